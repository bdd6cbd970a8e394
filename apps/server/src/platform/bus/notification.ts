import type { Hint } from './event-bus.js'

/** PostgreSQL refuses notifications of 8000 bytes and more. */
const maxBytes = 7_900

type WireHint = [topic: string, key: string, seq?: number]

/** Which process sent a notification, and its hints. */
export interface Notification {
  from: string
  hints: Hint[]
}

/**
 * Packs hints into as few notifications as possible. Those that are too long for one are left out,
 * as any hint may be.
 * @param from name of the sending process, by which it knows its own notifications
 */
export function packNotifications(from: string, hints: readonly Hint[]): string[] {
  const head = `{"from":${JSON.stringify(from)},"hints":[`
  const room = maxBytes - Buffer.byteLength(head) - ']}'.length
  const packed: string[] = []
  let parts: string[] = []
  let used = 0
  const seal = () => {
    if (parts.length > 0) packed.push(`${head}${parts.join(',')}]}`)
    parts = []
    used = 0
  }
  for (const hint of hints) {
    const part = JSON.stringify(toWire(hint))
    const bytes = Buffer.byteLength(part) + 1
    if (bytes > room) continue
    if (used + bytes > room) seal()
    parts.push(part)
    used += bytes
  }
  seal()
  return packed
}

/** Undefined for anything that was not packed by this program. */
export function unpackNotification(text: string): Notification | undefined {
  const { from, hints } = parseObject(text)
  if (typeof from !== 'string' || !Array.isArray(hints)) return undefined
  if (!hints.every(isWireHint)) return undefined
  return { from, hints: hints.map(fromWire) }
}

function toWire({ topic, key, seq }: Hint): WireHint {
  return seq === undefined ? [topic, key] : [topic, key, seq]
}

function fromWire([topic, key, seq]: WireHint): Hint {
  return seq === undefined ? { topic, key } : { topic, key, seq }
}

function isWireHint(value: unknown): value is WireHint {
  if (!Array.isArray(value)) return false
  const [topic, key, seq] = value
  const known = seq === undefined || Number.isSafeInteger(seq)
  return typeof topic === 'string' && typeof key === 'string' && known
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
