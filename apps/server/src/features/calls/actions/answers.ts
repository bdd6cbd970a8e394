import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../platform/clock.js'

type JsonMap = Record<string, unknown>

/** Milliseconds that an answer may be used again. */
const lifetime = 5 * 60_000
/** Characters of JSON that are remembered, of one answer and of all together. */
const most = { ofOne: 256 * 1024, ofAll: 16 * 1024 * 1024 }

/** What a question was put to. */
interface Asked {
  botId: string
  /** Full name of the action. */
  type: string
  input: JsonMap
}

/** Earlier answers of actions that are cacheable, in the memory of this process. */
export interface ActionAnswers {
  find(asked: Asked): JsonMap | undefined
  keep(asked: Asked, output: JsonMap): void
  /** To be told when a bot or what is installed in it was changed or removed. */
  forget(botId: string): void
}

export function createActionAnswers({ clock }: { clock: Clock }): ActionAnswers {
  const known = new LRUCache<string, { text: string; until: number }>({
    maxSize: most.ofAll,
    sizeCalculation: ({ text }) => text.length + 100,
  })
  return {
    find(asked) {
      const found = known.get(keyOf(asked))
      if (found === undefined || found.until <= clock.now()) return undefined
      return JSON.parse(found.text)
    },
    keep(asked, output) {
      const text = JSON.stringify(output)
      if (text.length > most.ofOne) return
      known.set(keyOf(asked), { text, until: clock.now() + lifetime })
    },
    forget(botId) {
      for (const key of known.keys()) if (key.startsWith(`${botId} `)) known.delete(key)
    },
  }
}

function keyOf({ botId, type, input }: Asked): string {
  const digest = createHash('sha256').update(`${type}\n${JSON.stringify(sorted(input))}`)
  return `${botId} ${digest.digest('base64')}`
}

/** Members in the order of their names: the same question may be written in many ways. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)])
}
