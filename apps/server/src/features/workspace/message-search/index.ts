import { setImmediate as nextTurn } from 'node:timers/promises'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Position } from '../../../platform/db/paginate.js'
import { timeOfId } from '../../../platform/ids.js'
import {
  listMessagesIn,
  listPlaces,
  listTexts,
  listTextsOf,
  listTextsSince,
  type MessageText,
  textOf,
} from '../../conversations/messages/index.js'
import type { Feature } from '../../feature.js'
import { createIndexer, type IndexerDeps, maxTextLength } from './indexer.js'
import { postgresWords } from './postgres-words-store.js'
import { listDue, readProgress } from './progress-store.js'
import { matchesText, type PhraseQuery } from './query.js'
import { sqliteWords } from './sqlite-words-store.js'
import type { FoundMessage } from './word-index.js'

export { type PhraseQuery, toPhraseQuery } from './query.js'

/** The conversations that a search found. */
interface ConversationMatches {
  /** Their native ids. */
  ids: string[]
  /** False while so many messages wait to be indexed that not all of them were read. */
  isComplete: boolean
}

/** Finds conversations by the texts of their messages. */
export interface MessageSearch extends Feature {
  /** The conversations of some bots in which a message says it; undefined if more than `limit` messages do. */
  find(
    botIds: readonly string[],
    query: PhraseQuery,
    limit: number,
  ): Promise<ConversationMatches | undefined>
  /**
   * The given conversations in which a message contains the phrases. Reads their messages, the newest first, which takes
   * little time for words that many messages have.
   */
  findIn(conversationIds: readonly string[], query: PhraseQuery): Promise<Set<string>>
}

interface Unindexed {
  /** Id of the last message that is indexed. */
  lastId: string
  /** Ids of messages to index once more. */
  due: string[]
}

/** Messages that are not indexed yet and are read one by one. */
const maxUnindexed = 2000
/** Milliseconds by which the time of a message may be earlier than that of its id. */
const slackMs = 60_000
/** Conversations that are read with one statement, messages of each, and of a longer one with a further statement. */
const conversationsAtOnce = 50
const messagesAtOnce = 30
const olderAtOnce = 200
/** Bots in which the index searches at once. */
const maxScopes = 100

export function createMessageSearch(deps: Omit<IndexerDeps, 'index'>): MessageSearch {
  const { db } = deps
  const index = deps.dialect.choose({ sqlite: sqliteWords, postgres: postgresWords })
  const indexer = createIndexer({ ...deps, index })

  /** Messages that are not indexed: those behind an id, and some that wait to be indexed once more. */
  async function readUnindexed(): Promise<Unindexed> {
    const lastId = await readProgress(db)
    const due = await listDue(db, maxUnindexed)
    return { lastId, due: due.map(({ message_id: id }) => id) }
  }

  /** Conversations with a matching message that was not indexed. */
  async function findUnindexed(
    botIds: readonly string[],
    query: PhraseQuery,
    { lastId, due }: Unindexed,
  ): Promise<ConversationMatches> {
    const since = isoTime(Math.max(0, timeOfId(lastId) - slackMs))
    const ofEach = Math.max(10, Math.ceil(maxUnindexed / Math.max(1, botIds.length)))
    const newest = (await listTextsSince(db, botIds, since, ofEach)).filter(({ id }) => id > lastId)
    const counts = new Map<string, number>()
    for (const { bot_id: id } of newest) counts.set(id, (counts.get(id) ?? 0) + 1)
    const isCut = [...counts.values()].some((count) => count >= ofEach)
    const own = new Set(botIds)
    const rows = [...newest, ...(await listTexts(db, due))]
    const ids: string[] = []
    const takeTurns = createTurns()
    for (const row of rows) {
      await takeTurns()
      if (own.has(row.bot_id) && matchesMessage(row, query)) ids.push(row.conversation_id)
    }
    return {
      ids,
      isComplete: !isCut && due.length < maxUnindexed,
    }
  }

  /** Whether an older message of a long conversation matches than those of one statement. */
  async function matchesOlder(conversationId: string, query: PhraseQuery): Promise<boolean> {
    let after: Position | undefined
    const takeTurns = createTurns()
    for (;;) {
      const range = { sort: 'created_at', direction: 'desc', size: olderAtOnce, after } as const
      const rows = await listMessagesIn(db, conversationId, range)
      for (const row of rows) {
        await takeTurns()
        if (matchesMessage(row, query)) return true
      }
      const last = rows.at(olderAtOnce - 1)
      if (rows.length <= olderAtOnce || last === undefined) return false
      // SQLite reads at once: other requests would wait for the end of the longest conversation.
      await nextTurn()
      after = { value: last.created_at, id: last.id }
    }
  }

  return {
    name: 'message search',
    start: indexer.start,
    stop: indexer.stop,

    async find(botIds, query, limit) {
      // Read before the index, so that what is indexed meanwhile is in one of the two.
      const before = await readUnindexed()
      const found: FoundMessage[] = []
      for (let at = 0; at < botIds.length; at += maxScopes) {
        const scopes = botIds.slice(at, at + maxScopes)
        found.push(...(await index.find(db, scopes, query, limit + 1)))
        if (found.length > limit) return undefined
      }
      // The index still has the former text of a message that was changed.
      const due = new Set(before.due)
      const ids = found.map(({ message_id: id }) => id).filter((id) => !due.has(id))
      // The index may still have a message that was deleted while it was being indexed.
      const places = await listPlaces(db, botIds, ids)
      const { ids: unindexed, isComplete } = await findUnindexed(botIds, query, before)
      const all = [...places.map(({ conversation_id: id }) => id), ...unindexed]
      return { ids: [...new Set(all)], isComplete }
    },

    async findIn(conversationIds, query) {
      const found = new Set<string>()
      const takeTurns = createTurns()
      for (let at = 0; at < conversationIds.length; at += conversationsAtOnce) {
        const some = conversationIds.slice(at, at + conversationsAtOnce)
        const unread = new Map<string, number>()
        for (const row of await listTextsOf(db, some, messagesAtOnce)) {
          const { conversation_id: id } = row
          await takeTurns()
          unread.set(id, (unread.get(id) ?? 0) + 1)
          if (!found.has(id) && matchesMessage(row, query)) found.add(id)
        }
        for (const [id, count] of unread) {
          if (count < messagesAtOnce || found.has(id)) continue
          if (await matchesOlder(id, query)) found.add(id)
        }
        await nextTurn()
      }
      return found
    },
  }
}

function matchesMessage({ payload }: Pick<MessageText, 'payload'>, query: PhraseQuery): boolean {
  return matchesText(textOf(decodeJson(payload), maxTextLength), query)
}

/** Milliseconds of work after which other work has its turn. */
const turnMs = 10

/** Returns a function to be awaited before each message: users decide how much work one is. */
function createTurns(): () => Promise<void> {
  let start = performance.now()
  return async () => {
    if (performance.now() - start < turnMs) return
    await nextTurn()
    start = performance.now()
  }
}
