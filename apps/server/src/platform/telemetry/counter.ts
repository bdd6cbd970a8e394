import type { Metric } from './metric.js'

/** Counts since the start of the process. */
export interface Counter<Label extends string> extends Metric {
  /** @param label what happened, out of a small and fixed set */
  add(label: Label): void
}

/**
 * @param options.label name of the label
 * @param options.values its values, each of which is told from the beginning: a rate needs a zero to start from
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
        ...{ name, help, type: 'counter' },
        samples: [...counts].map(([key, value]) => ({ labels: { [label]: key }, value })),
      },
    ],
  }
}
