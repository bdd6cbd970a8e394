import type { CodeOwner } from '../bots/deployments/index.js'

const separator = ':'

/** The key of an owner in maps and hints. */
export function keyOf({ type, id }: CodeOwner): string {
  return `${type}${separator}${id}`
}

/** The owner with such a key. */
export function ownerOf(key: string): CodeOwner {
  const end = key.indexOf(separator)
  return { type: key.slice(0, end) === 'bot' ? 'bot' : 'integration', id: key.slice(end + 1) }
}
