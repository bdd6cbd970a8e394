import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'
import { type CountedEvent, findFirstEventTime, listCountedEvents } from '../events/index.js'
import {
  type CountedMessage,
  findFirstMessageTime,
  listCountedMessages,
} from '../messages/index.js'
import { countCreated, countCreatedBefore, findFirstCreation } from '../users/index.js'

/** Counts of what happened in a bot on a day; `BotAnalyticsRecord` of the contract describes each. */
export interface Figures {
  newUsers: number
  returningUsers: number
  sessions: number
  userMessages: number
  botMessages: number
  events: number
  eventTypes: Record<string, number>
}

export const noFigures: Figures = {
  newUsers: 0,
  returningUsers: 0,
  sessions: 0,
  userMessages: 0,
  botMessages: 0,
  events: 0,
  eventTypes: {},
}

const dayMs = 24 * 60 * 60 * 1000
/** Milliseconds without a message of a user after which the next one begins a visit (`sessions`). */
const visitGapMs = 30 * 60 * 1000
/** Rows that one query reads: few, because queries of SQLite run one after the other and would wait for it. */
const rowsAtOnce = 2000
/** Maximum number of types of events of a day that are counted each; the most frequent ones are. */
const maxTypes = 200

/** The period of a day in UTC. */
export function periodOf(day: string): Period {
  const since = `${day}T00:00:00.000Z`
  return { since, before: new Date(Date.parse(since) + dayMs).toISOString() }
}

/** The first day in a period on which something happened in a bot. */
export async function findActiveDay(
  db: Db,
  botId: string,
  period: Period,
): Promise<string | undefined> {
  const times = await Promise.all([
    findFirstMessageTime(db, botId, period),
    findFirstEventTime(db, botId, period),
    findFirstCreation(db, botId, period),
  ])
  const [first] = times.filter((time) => time !== undefined).sort()
  return first?.slice(0, 10)
}

/**
 * Counts what happened in a bot on a day, from the rows of that day.
 * @param throwIfEnded called after each query; throws to end the count
 */
export async function countDay(
  db: Db,
  botId: string,
  day: string,
  throwIfEnded: () => void,
): Promise<Figures> {
  const period = periodOf(day)
  const messages = createMessageCounts()
  const types = new Map<string, number>()
  await readAll<CountedMessage>(
    (after) => listCountedMessages(db, botId, period, after, rowsAtOnce),
    messages.add,
    throwIfEnded,
  )
  await readAll<CountedEvent>(
    (after) => listCountedEvents(db, botId, period, after, rowsAtOnce),
    ({ type }) => void types.set(type, (types.get(type) ?? 0) + 1),
    throwIfEnded,
  )
  const authors = [...messages.authors]
  let returningUsers = 0
  for (let at = 0; at < authors.length; at += rowsAtOnce) {
    const some = authors.slice(at, at + rowsAtOnce)
    returningUsers += await countCreatedBefore(db, botId, some, period.since)
    throwIfEnded()
  }
  const frequent = [...types].sort(([, one], [, other]) => other - one).slice(0, maxTypes)
  return {
    newUsers: await countCreated(db, botId, period),
    returningUsers,
    ...messages.figures(),
    events: [...types.values()].reduce((sum, count) => sum + count, 0),
    eventTypes: Object.fromEntries(frequent),
  }
}

async function readAll<Row>(
  read: (after: Row | undefined) => Promise<Row[]>,
  add: (row: Row) => void,
  throwIfEnded: () => void,
): Promise<void> {
  let rows: Row[] = []
  do {
    rows = await read(rows.at(-1))
    for (const row of rows) add(row)
    throwIfEnded()
  } while (rows.length === rowsAtOnce)
}

function createMessageCounts() {
  const authors = new Set<string>()
  /** Time of the last message of a user in each conversation, in milliseconds since the Unix epoch. */
  const lastTimes = new Map<string, number>()
  let sessions = 0
  let userMessages = 0
  let botMessages = 0
  return {
    authors,
    /** Adds the next message in the order of time. */
    add({ direction, conversation_id, user_id, created_at }: CountedMessage): void {
      if (direction === 'outgoing') {
        botMessages += 1
        return
      }
      userMessages += 1
      authors.add(user_id)
      const time = Date.parse(created_at)
      const last = lastTimes.get(conversation_id)
      if (last === undefined || time - last >= visitGapMs) sessions += 1
      lastTimes.set(conversation_id, time)
    },
    figures: () => ({ sessions, userMessages, botMessages }),
  }
}
