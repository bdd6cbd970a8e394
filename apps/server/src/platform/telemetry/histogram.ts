import type { Metric, Sample } from './metric.js'

/** Counts values by size since the start of the process. */
export interface Histogram extends Metric {
  record(value: number): void
}

/** @param options.bounds upper ends of the buckets, rising; larger values are counted without */
export function createHistogram(options: {
  name: string
  help: string
  bounds: readonly number[]
  labels?: Readonly<Record<string, string>>
}): Histogram {
  const { name, help, bounds, labels = {} } = options
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0

  function* samples(): Generator<Sample> {
    let reached = 0
    for (const [at, count] of counts.entries()) {
      reached += count
      const le = String(bounds[at] ?? '+Inf')
      yield { suffix: '_bucket', labels: { ...labels, le }, value: reached }
    }
    yield { suffix: '_sum', labels, value: sum }
    yield { suffix: '_count', labels, value: reached }
  }

  return {
    record(value) {
      sum += value
      // Most values are small, and there are few bounds.
      let at = 0
      while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
      counts[at] = (counts[at] ?? 0) + 1
    },
    collect: () => [{ name, help, type: 'histogram', samples: [...samples()] }],
  }
}
