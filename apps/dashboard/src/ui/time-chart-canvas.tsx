import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'

/** A counted series; series are stacked from the first one upwards. */
export interface Series {
  label: string
  /** Name of a token of colour, such as `--attention`. */
  color: string
  /** One count for each bucket. */
  counts: readonly number[]
}

export interface TimeChartProps {
  /** Name of the chart for screen readers. */
  label: string
  /** Starts of the buckets in milliseconds, oldest first. */
  starts: readonly number[]
  bucketMs: number
  series: readonly Series[]
  /** Called with the range that was dragged over, in milliseconds. */
  onZoom: (since: number, until: number) => void
}

const height = 96
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const withSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** The drawing of a chart: a module of its own, because its library is loaded only when a chart is shown. */
export function ChartCanvas(
  props: TimeChartProps & { onPoint: (index: number | undefined) => void },
) {
  const element = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const latest = useRef(props)
  latest.current = props
  const theme = useTheme()
  const { starts, series } = props
  const shape = `${theme} ${series.map(({ color }) => color).join()}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: made again only for other colours or series
  useEffect(() => {
    const { current } = element
    if (current === null) return
    const made = new uPlot(optionsOf(latest, current), dataOf(latest.current), current)
    chart.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height }))
    observer.observe(current)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [shape])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the data is that of these
  useEffect(() => {
    chart.current?.setData(dataOf(latest.current))
  }, [starts, series])
  return <div ref={element} />
}

function optionsOf(
  latest: { current: TimeChartProps & { onPoint: (index: number | undefined) => void } },
  element: HTMLElement,
): uPlot.Options {
  const muted = colorOf(element, '--text-muted')
  const line = colorOf(element, '--border')
  const axis = {
    stroke: muted,
    font: '11px sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  }
  const bars = uPlot.paths.bars?.({ size: [0.9, 64], align: 1 })
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: true, range: () => rangeOf(latest.current) },
      y: { range: (_, __, max) => [0, Math.max(1, max)] },
    },
    axes: [
      { ...axis, size: 22, values: (_, splits) => describeSplits(splits) },
      {
        ...axis,
        size: 44,
        space: 24,
        // Counts are whole.
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000],
      },
    ],
    series: [
      {},
      // The highest first, so that those below it are drawn over it.
      ...latest.current.series.toReversed().map(({ label, color }) => {
        const fill = colorOf(element, color)
        return {
          label,
          fill,
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        }
      }),
    ],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    hooks: {
      setCursor: [
        ({ cursor }) => {
          const isInside = cursor.left !== undefined && cursor.left !== null && cursor.left >= 0
          latest.current.onPoint(isInside ? (cursor.idx ?? undefined) : undefined)
        },
      ],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select
          if (width < 2) return
          const at = (pixel: number) => Math.round(chart.posToVal(pixel, 'x') * 1000)
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          latest.current.onZoom(at(left), at(left + width))
        },
      ],
    },
  }
}

function rangeOf({ starts, bucketMs }: TimeChartProps): [number, number] {
  const [first = 0] = starts
  return [first / 1000, ((starts.at(-1) ?? 0) + bucketMs) / 1000]
}

/** Times in seconds, and of each series its sum with those below it: the highest first. */
function dataOf({ starts, series }: TimeChartProps): uPlot.AlignedData {
  const sums = starts.map(() => 0)
  const stacked = series.map(({ counts }) =>
    counts.map((count, index) => {
      const sum = (sums[index] ?? 0) + count
      sums[index] = sum
      return sum
    }),
  )
  return [starts.map((start) => start / 1000), ...stacked.toReversed()]
}

function describeSplits(splits: number[]): string[] {
  const [first = 0, second = first + 60] = splits
  const step = second - first
  return splits.map((split) => {
    const time = split * 1000
    if (step < 60) return withSeconds.format(time)
    const isMidnight = new Date(time).getHours() === 0 && new Date(time).getMinutes() === 0
    return step >= 86_400 || isMidnight ? day.format(time) : clock.format(time)
  })
}

/** A token of colour as the canvas understands it: resolved for the theme in force. */
function colorOf(element: HTMLElement, token: string): string {
  const before = element.style.color
  element.style.color = `var(${token})`
  const { color } = getComputedStyle(element)
  element.style.color = before
  return color
}

/** Changes with the colours in force, which the canvas cannot follow by itself. */
function useTheme(): string {
  const [theme, setTheme] = useState('')
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const look = () => setTheme(`${document.documentElement.style.colorScheme} ${dark.matches}`)
    const observer = new MutationObserver(look)
    observer.observe(document.documentElement, { attributeFilter: ['style'] })
    dark.addEventListener('change', look)
    look()
    return () => {
      observer.disconnect()
      dark.removeEventListener('change', look)
    }
  }, [])
  return theme
}
