import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Position } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import {
  type ActivityKey,
  type ActivityRange,
  type ConversationNarrowing,
  type ConversationRow,
  countActivity,
  listActivity,
  listConversationsOf,
  narrowConversations,
} from '../../conversations/conversations/index.js'
import { listObjectsWithTag } from '../../conversations/tags/index.js'
import { deliveryStatesOf, listFailedConversations } from '../../deliveries/index.js'
import type { MessageSearch, PhraseQuery } from '../message-search/index.js'

/** The requested conversations. */
export interface ConversationSelection {
  botIds: readonly string[]
  /** Bounds of the last activity, ISO 8601, both included. */
  times: Pick<ActivityRange, 'since' | 'until'>
  narrowing: ConversationNarrowing
  /** Whether a delivery must have failed, or none may have; undefined for either. */
  hasFailedDelivery: boolean | undefined
  /** Phrases that one of its messages must contain; undefined for any message. */
  phrases: PhraseQuery | undefined
}

/** A part of a list in the order of activity. */
export interface ConversationPart {
  rows: ConversationRow[]
  /** Position at which to go on; undefined at the end. */
  end: Position | undefined
}

export interface Total {
  count: number
  accuracy: 'exact' | 'about' | 'atLeast'
}

interface CandidateList {
  rows: ConversationRow[]
  /** False while some messages that may say what is asked for cannot be found yet. */
  isComplete: boolean
}

/** Bounds of the work of one call, in conversations. */
interface Bounds {
  /**
   * Conversations of a filter that are looked at one by one; if it selects more, conversations are read in the
   * order of activity until enough match.
   */
  candidates: number
  /** Messages with the words of the filter whose conversations are looked at one by one. */
  messages: number
  /** Read in the order of activity. */
  examined: number
  /** Read by one statement. */
  atOnce: number
  counted: number
  /** From which the share that matches is estimated. */
  sample: number
}

const usualBounds: Bounds = {
  candidates: 2000,
  messages: 5000,
  examined: 10_000,
  atOnce: 2000,
  counted: 100_000,
  sample: 1000,
}

/** Share of these bounds for searches by phrases, because messages have to be read. */
const shareOfPhrases = 0.05

interface FinderDeps {
  db: Db
  search: Pick<MessageSearch, 'find' | 'findIn'>
  bounds?: Bounds
}

/**
 * Finds conversations of a workspace. The work is bounded whatever the filters are: either one of them selects
 * few conversations, or the most recently active ones are read until the page is full or the bound is reached.
 */
export function createFinder({ db, search, bounds = usualBounds }: FinderDeps) {
  /** All that match, last active first, if a filter selects few; otherwise undefined. */
  async function listCandidates(
    selection: ConversationSelection,
  ): Promise<CandidateList | undefined> {
    const { botIds, narrowing, times } = selection
    const [tag] = Object.entries(narrowing.tags)
    const limit = bounds.candidates + 1
    const lists = await Promise.all([
      narrowing.userId === undefined
        ? undefined
        : listConversationsOf(db, botIds, narrowing.userId, limit),
      tag && listObjectsWithTag(db, botIds, 'conversation', tag, limit),
      selection.hasFailedDelivery ? listFailedConversations(db, botIds, limit) : undefined,
    ])
    const matches =
      selection.phrases && (await search.find(botIds, selection.phrases, bounds.messages))
    const few = lists.filter((ids) => ids !== undefined && ids.length < limit)
    const [first, ...others] = [matches?.ids, ...few].flatMap((ids) => (ids ? [new Set(ids)] : []))
    if (first === undefined) return undefined
    const ids = [...first].filter((id) => others.every((other) => other.has(id)))
    const phrases = matches === undefined ? selection.phrases : undefined
    const rows = (await narrow({ ...selection, phrases }, ids)).filter(
      ({ updated_at: at }) => at >= (times.since ?? '') && at <= (times.until ?? '~'),
    )
    rows.sort((a, b) => compare(b, a))
    return { rows, isComplete: matches?.isComplete ?? true }
  }

  /** The given conversations that match, apart from the time, in no order. */
  async function narrow(
    selection: ConversationSelection,
    ids: readonly string[],
  ): Promise<ConversationRow[]> {
    const { botIds, narrowing, hasFailedDelivery, phrases } = selection
    let rows = await narrowConversations(db, botIds, ids, narrowing)
    if (hasFailedDelivery !== undefined) {
      const states = await deliveryStatesOf(db, rows)
      rows = rows.filter(({ id }) => states.get(id)?.hasFailed === hasFailedDelivery)
    }
    if (phrases === undefined) return rows
    const matches = await search.findIn(
      rows.map(({ id }) => id),
      phrases,
    )
    return rows.filter(({ id }) => matches.has(id))
  }

  function boundsOf({
    phrases,
  }: ConversationSelection): Pick<Bounds, 'examined' | 'atOnce' | 'sample'> {
    const share = (bound: number) => Math.ceil(bound * (phrases === undefined ? 1 : shareOfPhrases))
    const { examined, atOnce, sample } = bounds
    return { examined: share(examined), atOnce: share(atOnce), sample: share(sample) }
  }

  async function walk(
    selection: ConversationSelection,
    range: Pick<ActivityRange, 'direction' | 'after'>,
    size: number,
  ): Promise<ConversationPart> {
    const rows: ConversationRow[] = []
    const { examined: maxExamined, atOnce: maxAtOnce } = boundsOf(selection)
    let { after } = range
    let examined = 0
    let atOnce = size + 1
    for (;;) {
      // Of many bots few each, because what is read of one mostly comes after the others.
      const ofEach = Math.max(4, Math.min(atOnce, Math.ceil(maxAtOnce / selection.botIds.length)))
      const part = { ...selection.times, direction: range.direction, after }
      const { keys, isLast } = await listActivity(db, selection.botIds, part, ofEach)
      rows.push(
        ...inOrderOf(
          keys,
          await narrow(
            selection,
            keys.map(({ id }) => id),
          ),
        ),
      )
      if (rows.length > size) {
        const page = rows.slice(0, size)
        return { rows: page, end: page.at(-1) && positionOf(page.at(-1)) }
      }
      const last = keys.at(-1)
      if (isLast || last === undefined) return { rows, end: undefined }
      after = positionOf(last)
      examined += keys.length
      if (examined >= maxExamined) return { rows, end: after }
      atOnce = Math.min(atOnce * 4, maxAtOnce)
      // An export goes on with all conversations, and SQLite reads at once: other requests have their turn here.
      await nextTurn()
    }
  }

  async function estimate(selection: ConversationSelection): Promise<Total> {
    const all = await countActivity(db, selection.botIds, selection.times, bounds.counted + 1)
    const isCounted = all <= bounds.counted
    const { integration, channel, userId, tags } = selection.narrowing
    const isNarrowed =
      [integration, channel, userId, selection.hasFailedDelivery, selection.phrases].some(
        (each) => each !== undefined,
      ) || Object.keys(tags).length > 0
    if (!isNarrowed) {
      return { count: Math.min(all, bounds.counted), accuracy: isCounted ? 'exact' : 'atLeast' }
    }
    const part = { ...selection.times, direction: 'desc' as const, after: undefined }
    const ofEach = Math.max(4, Math.ceil(boundsOf(selection).sample / selection.botIds.length))
    const { keys, isLast } = await listActivity(db, selection.botIds, part, ofEach)
    const matching = await narrow(
      selection,
      keys.map(({ id }) => id),
    )
    if (isLast) return { count: matching.length, accuracy: 'exact' }
    return { count: Math.round((matching.length / keys.length) * all), accuracy: 'about' }
  }

  return {
    /** A page of at most `size`, and the number of all that match if `isCounted`. */
    async page(
      selection: ConversationSelection,
      range: Pick<ActivityRange, 'direction' | 'after'>,
      size: number,
      { isCounted }: { isCounted: boolean },
    ): Promise<ConversationPart & { total: Total | undefined }> {
      if (selection.botIds.length === 0) {
        return { rows: [], end: undefined, total: { count: 0, accuracy: 'exact' } }
      }
      const candidates = await listCandidates(selection)
      if (candidates !== undefined) {
        const { rows, isComplete } = candidates
        const total: Total = { count: rows.length, accuracy: isComplete ? 'exact' : 'atLeast' }
        return { ...pageOfList(rows, range, size), total: isCounted ? total : undefined }
      }
      const found = await walk(selection, range, size)
      if (!isCounted) return { ...found, total: undefined }
      const total = await estimate(selection)
      return { ...found, total: { ...total, count: Math.max(total.count, found.rows.length) } }
    },
  }
}

function pageOfList(
  candidates: readonly ConversationRow[],
  { direction, after }: Pick<ActivityRange, 'direction' | 'after'>,
  size: number,
): ConversationPart {
  const ordered = direction === 'desc' ? candidates : candidates.toReversed()
  const isBehind = (row: ConversationRow) => {
    if (after === undefined) return true
    const order = compare(row, { updated_at: String(after.value), id: after.id })
    return direction === 'desc' ? order < 0 : order > 0
  }
  const rest = ordered.filter(isBehind)
  const rows = rest.slice(0, size)
  return { rows, end: rest.length > size ? positionOf(rows.at(-1)) : undefined }
}

function inOrderOf(keys: readonly ActivityKey[], rows: readonly ConversationRow[]) {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return keys.flatMap(({ id }) => byId.get(id) ?? [])
}

/** The place of a conversation in the order of activity. */
export function positionOf<Row extends Pick<ActivityKey, 'id' | 'updated_at'> | undefined>(
  row: Row,
) {
  return row && { value: row.updated_at, id: row.id }
}

type ActivityPosition = Pick<ActivityKey, 'id' | 'updated_at'>

function compare(a: ActivityPosition, b: ActivityPosition): number {
  if (a.updated_at !== b.updated_at) return a.updated_at < b.updated_at ? -1 : 1
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
