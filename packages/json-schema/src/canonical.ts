import type { ValidationRun } from './validation-run.js'

/**
 * A text that is equal for two JSON values if and only if they are equal, whatever the order of their members.
 * Takes a step for each part of the value and for each 16 characters.
 */
export function canonical(value: unknown, run: Pick<ValidationRun, 'spend'>): string {
  if (typeof value === 'string') {
    run.spend(1 + value.length / 16)
    return JSON.stringify(value)
  }
  if (typeof value !== 'object' || value === null) {
    run.spend(1)
    return String(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, run)).join(',')}]`
  const members = Object.entries(value)
  run.spend(members.length * 4)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = members.map(([name, member]) => `${canonical(name, run)}:${canonical(member, run)}`)
  return `{${texts.join(',')}}`
}
