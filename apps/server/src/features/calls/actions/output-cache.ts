import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../platform/clock.js'
import { createKeyGroups } from '../../../platform/key-groups.js'

type JsonMap = Record<string, unknown>

/** Milliseconds for which an output is reused. */
const lifetime = 5 * 60_000
/** Characters of JSON that are cached, for one output and for all together. */
const max = { ofOne: 256 * 1024, ofAll: 16 * 1024 * 1024 }

/** A call of an action. */
interface CacheableCall {
  botId: string
  /** Full name of the action. */
  type: string
  input: JsonMap
}

/** Caches the outputs of cacheable actions in the memory of this process. */
export interface OutputCache {
  find(call: CacheableCall): JsonMap | undefined
  keep(call: CacheableCall, output: JsonMap): void
  /** Called when a bot or one of its installations was changed or removed. */
  forget(botId: string): void
}

/** Makes an empty cache. It reuses an output for 5 minutes, and keeps none that is very long. */
export function createOutputCache({ clock }: { clock: Clock }): OutputCache {
  const ofBots = createKeyGroups()
  const known = new LRUCache<string, { botId: string; text: string; until: number }>({
    maxSize: max.ofAll,
    sizeCalculation: ({ text }) => text.length + 100,
    dispose: ({ botId }, key) => ofBots.delete(botId, key),
  })
  return {
    find(call) {
      const found = known.get(keyOf(call))
      if (found === undefined || found.until <= clock.now()) return undefined
      return JSON.parse(found.text)
    },
    keep(call, output) {
      const text = JSON.stringify(output)
      if (text.length > max.ofOne) return
      const { botId } = call
      const key = keyOf(call)
      known.set(key, { botId, text, until: clock.now() + lifetime })
      ofBots.add(botId, key)
    },
    forget(botId) {
      for (const key of ofBots.of(botId)) known.delete(key)
    },
  }
}

function keyOf({ botId, type, input }: CacheableCall): string {
  const digest = createHash('sha256').update(`${type}\n${JSON.stringify(sorted(input))}`)
  return `${botId} ${digest.digest('base64')}`
}

/** Sorts members by name, because equal inputs may differ in the order of members. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)])
}
