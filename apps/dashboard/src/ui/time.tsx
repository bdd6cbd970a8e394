import { useEffect, useReducer } from 'react'

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
/** Milliseconds after which a time is shown as a date. */
const farthest = 7 * 86_400_000

/** A time relative to now, such as `5 min. ago`; a date if it is more than a week away. */
function describeTime(time: number, now: number): string {
  const distance = time - now
  if (Math.abs(distance) > farthest) return days.format(time)
  const [unit, length] = units.find(([, length]) => Math.abs(distance) >= length) ?? [
    'second',
    1000,
  ]
  return relative.format(Math.round(distance / length), unit)
}

/** A time in the zone of the reader, as a distance; the exact one, with its zone, on hover. */
export function Time({ at }: { at: string }) {
  const [, repeat] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const timer = setInterval(repeat, 30_000)
    return () => clearInterval(timer)
  }, [])
  const time = Date.parse(at)
  return (
    <time dateTime={at} title={`${exact.format(time)}\n${at}`}>
      {describeTime(time, Date.now())}
    </time>
  )
}

/** A duration in milliseconds for people: `87 ms`, `1.4 s`, `3 min`. */
export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${inTenths(milliseconds / 1000)} s`
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`
  return `${inTenths(milliseconds / 3_600_000)} h`
}

/** `1.4`, but `24` and not `24.0`. */
function inTenths(value: number): string {
  return String(Math.round(value * 10) / 10)
}
