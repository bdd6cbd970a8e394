import { lazy, Suspense, useState } from 'react'
import { formatNumber } from './numbers.js'
import styles from './time-chart.module.css'
import type { Series, TimeChartProps } from './time-chart-canvas.js'

const Canvas = lazy(async () => ({ default: (await import('./time-chart-canvas.js')).ChartCanvas }))

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Counts over time as stacked bars. Dragging over a part zooms in on it; the legend follows the pointer. */
export function TimeChart(props: TimeChartProps) {
  const { label, starts, bucketMs, series } = props
  const [pointed, setPointed] = useState<number>()
  const [first = 0] = starts
  const end = (starts.at(-1) ?? 0) + bucketMs
  const start = pointed === undefined ? undefined : starts[pointed]
  const range =
    start === undefined
      ? moment.formatRange(first, end)
      : moment.formatRange(start, start + bucketMs)
  const countOf = ({ counts }: Series) =>
    pointed === undefined ? counts.reduce((sum, count) => sum + count, 0) : (counts[pointed] ?? 0)
  const words = series.map((one) => `${one.label} ${formatNumber(countOf(one))}`).join(', ')
  return (
    <figure className={styles.chart}>
      <div
        role="img"
        aria-label={`${label}, ${moment.formatRange(first, end)}: ${words}`}
        className={styles.canvas}
      >
        <Suspense fallback={null}>
          <Canvas {...props} onPoint={setPointed} />
        </Suspense>
      </div>
      <figcaption className={styles.legend}>
        <span>{range}</span>
        {series.map((one) => (
          <span key={one.label} className={styles.entry}>
            <span
              className={styles.swatch}
              style={{ background: `var(${one.color})` }}
              aria-hidden="true"
            />
            {one.label} <span className="numeric">{formatNumber(countOf(one))}</span>
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
