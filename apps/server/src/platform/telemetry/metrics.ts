/** One value of a metric, distinguished from the others by its labels. */
export interface Sample {
  /** Of the same names in all samples of one family. */
  labels?: Readonly<Record<string, string>>
  value: number
  /** Suffix of the name in a histogram: `_bucket`, `_sum` or `_count`. */
  suffix?: string
}

/** Values under one name. */
export interface Family {
  /** Ends with its unit, and with `_total` if it is a counter. */
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly Sample[]
}

/** Something that can be measured. Its cost is paid when the metrics are requested. */
export interface Metric {
  /** The current values. Rejects when they cannot be determined. */
  collect(): readonly Family[] | Promise<readonly Family[]>
}

interface Description {
  name: string
  help: string
}

/** A value that goes up and down and can be read at any time. */
export function gauge(description: Description, read: () => number): Metric {
  return {
    collect: () => [{ ...description, type: 'gauge', samples: [{ value: read() }] }],
  }
}

/** Counts since the start of the process. */
export interface Counter<Label extends string> extends Metric {
  /** @param label what happened, out of a small and fixed set */
  add(label: Label): void
}

/**
 * @param options.label name of the label
 * @param options.values its values, each of which is reported from the start: a rate needs a zero to begin with
 */
export function createCounter<const Label extends string>(options: {
  name: string
  help: string
  label: string
  values: readonly Label[]
}): Counter<Label> {
  const { name, help, label, values } = options
  const counts = new Map<Label, number>(values.map((value) => [value, 0]))
  return {
    add: (value) => void counts.set(value, (counts.get(value) ?? 0) + 1),
    collect: () => [
      {
        name,
        help,
        type: 'counter',
        samples: [...counts].map(([key, value]) => ({ labels: { [label]: key }, value })),
      },
    ],
  }
}

/** Counts values by size since the start of the process. */
export interface Histogram extends Metric {
  record(value: number): void
}

/** @param options.bounds upper ends of the buckets, rising; larger values count for the last bucket, `+Inf` */
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
    let cumulative = 0
    for (const [at, count] of counts.entries()) {
      cumulative += count
      const le = String(bounds[at] ?? '+Inf')
      yield { suffix: '_bucket', labels: { ...labels, le }, value: cumulative }
    }
    yield { suffix: '_sum', labels, value: sum }
    yield { suffix: '_count', labels, value: cumulative }
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

/** Media type of the text that {@link renderMetrics} returns. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * All values in the text format of Prometheus. A metric that cannot be collected is left out, so that
 * the rest can still be seen.
 *
 * @param onError called for each metric that is left out
 */
export async function renderMetrics(
  metrics: readonly Metric[],
  onError: (error: unknown) => void,
): Promise<string> {
  const collected = await Promise.all(
    metrics.map(async (metric) => {
      try {
        return await metric.collect()
      } catch (error) {
        onError(error)
        return []
      }
    }),
  )
  // The format wants all samples of one name together.
  const byName = new Map<string, Family>()
  for (const family of collected.flat()) {
    const known = byName.get(family.name)
    const samples = [...(known?.samples ?? []), ...family.samples]
    byName.set(family.name, { ...family, samples })
  }
  return [...byName.values()].flatMap(toLines).join('')
}

function toLines({ name, help, type, samples }: Family): string[] {
  return [
    `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`,
    ...samples.map((sample) => toLine(name, sample)),
  ]
}

function toLine(name: string, { suffix = '', labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  const list = pairs.length > 0 ? `{${pairs.join(',')}}` : ''
  return `${name}${suffix}${list} ${value}\n`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
