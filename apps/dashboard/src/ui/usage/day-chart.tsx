import { useState } from 'react'
import { Fold } from '../fold.js'
import { type Day, nameOfDay } from './months.js'
import styles from './usage.module.css'

interface DayChartProps {
  /** Name of the chart for screen readers. */
  label: string
  days: readonly Day[]
  format: (value: number) => string
  /** Text below the chart while no day is pointed at. */
  summary: string
}

const height = 96

/** Amounts of the days of a month as bars, and as a table for those who do not see them or want the figures. */
export function DayChart({ label, days, format, summary }: DayChartProps) {
  const [pointed, point] = useState<number>()
  const max = Math.max(1, ...days.map(({ value }) => value))
  const width = 100 / days.length
  const day = pointed === undefined ? undefined : days[pointed]
  const first = days[0]?.date ?? ''
  const last = days.at(-1)?.date ?? ''
  return (
    <>
      <figure className={styles.chart}>
        <div className={styles.scale} aria-hidden="true">
          {format(max)}
        </div>
        <svg
          role="img"
          aria-label={`${label}: ${summary}`}
          width="100%"
          height={height}
          onPointerLeave={() => point(undefined)}
        >
          {days.map(({ date, value }, index) => {
            // A little is seen beside much.
            const length = value === 0 ? 1 : Math.max(3, Math.round((value / max) * height))
            return (
              <g key={date} onPointerEnter={() => point(index)}>
                <rect
                  className={index === pointed ? styles.column : styles.hidden}
                  x={`${index * width}%`}
                  width={`${width}%`}
                  height={height}
                />
                <rect
                  className={value === 0 ? styles.none : styles.some}
                  x={`${(index + 0.1) * width}%`}
                  y={height - length}
                  width={`${width * 0.8}%`}
                  height={length}
                />
              </g>
            )
          })}
        </svg>
        <div className={styles.axis} aria-hidden="true">
          <span>{nameOfDay(first)}</span>
          <span>{nameOfDay(last)}</span>
        </div>
        <figcaption>
          {day === undefined ? summary : `${nameOfDay(day.date)}: ${format(day.value)}`}
        </figcaption>
      </figure>
      <Fold title="As a table">
        <table className={styles.table} aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" className="numeric">
                Used
              </th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, value }) => (
              <tr key={date}>
                <th scope="row">{nameOfDay(date)}</th>
                <td className="numeric">{format(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Fold>
    </>
  )
}
