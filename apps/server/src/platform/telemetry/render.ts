import type { Family, Metric, Sample } from './metric.js'

/** Media type of what `renderMetrics` makes. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * All values in the text format of Prometheus. What cannot be measured now is left out, so that the
 * rest can still be seen.
 *
 * @param onError told about each metric that is left out
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
  // Families of one name come together, as the format wants it.
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
