import type { Position } from '../../../platform/db/paginate.js'
import type { ConversationRow } from '../../conversations/conversations/index.js'
import { lastKey, type SourceName, type SourceRange, type Stored, sourceNames } from './sources.js'

/** A part of a timeline. */
export interface PartRange {
  direction: 'asc' | 'desc'
  /** Behind this place, see {@link placeOf}. */
  after: Position | undefined
  /** Maximum number of entries. */
  size: number
  sources: ReadonlySet<SourceName>
}

export interface Part {
  /** In the direction of the range. */
  entries: Stored[]
  /** Whether more lie behind. */
  isMore: boolean
}

type Conversation = Pick<ConversationRow, 'id' | 'bot_id'>
type Read = (conversation: Conversation, range: SourceRange) => Promise<Stored[]>

/** Characters of payloads on one page; the first entry is on it however long it is. */
const maxCharacters = 2_000_000

/** Merges the sources of a timeline into one list, ordered by time, source and key. */
export function createMerge(sources: Record<SourceName, Read>) {
  return async function readPart(conversation: Conversation, range: PartRange): Promise<Part> {
    const { direction, after, size } = range
    const read = (name: SourceName, until?: string) =>
      range.sources.has(name)
        ? sources[name](conversation, { direction, after: startOf(name, after), size, until })
        : []
    const messages = await read('message')
    // With a page full of messages, other sources are read no further than its last message.
    const until = messages[size]?.at
    const others = sourceNames.filter((name) => name !== 'message')
    const parts = await Promise.all(others.map((name) => read(name, until)))
    const merged = [messages, ...parts].flat().sort(compare)
    if (direction === 'desc') merged.reverse()
    const entries = merged.slice(0, countOfPage(merged, size))
    return { entries, isMore: merged.length > entries.length }
  }
}

/** The place of an entry in the order of the timeline. */
export function placeOf({ source, at, key }: Pick<Stored, 'source' | 'at' | 'key'>): Position {
  return { value: at, id: `${sourceNames.indexOf(source)}:${key}` }
}

/** The start of a source behind a place of the timeline: entries of one time are in the order of sources. */
function startOf(name: SourceName, place: Position | undefined): Position | undefined {
  if (place === undefined) return undefined
  const rank = sourceNames.indexOf(name)
  const [placeRank = '', ...key] = place.id.split(':')
  const difference = rank - Number(placeRank)
  const id = difference === 0 ? key.join(':') : difference < 0 ? lastKey : ''
  return { value: place.value, id }
}

function compare(a: Stored, b: Stored): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1
  const ranks = sourceNames.indexOf(a.source) - sourceNames.indexOf(b.source)
  if (ranks !== 0) return ranks
  return a.key < b.key ? -1 : Number(a.key > b.key)
}

function countOfPage(entries: readonly Stored[], size: number): number {
  let characters = 0
  for (const [at, entry] of entries.entries()) {
    characters += lengthOf(entry)
    if (at === size || (at > 0 && characters > maxCharacters)) return at
  }
  return entries.length
}

/** Characters of what an entry contains that can be long. */
function lengthOf(entry: Stored): number {
  switch (entry.source) {
    case 'message':
    case 'state':
      return entry.row.payload.length
    case 'event':
      return entry.row.payload?.length ?? 0
    case 'workflow':
      return entry.row.input.length + entry.row.output.length
    case 'change':
      return entry.row.before.length + entry.row.after.length
    case 'log':
      return entry.row.message.length
    case 'conversation':
      return JSON.stringify(entry.row.data ?? null).length
    default:
      return entry satisfies never
  }
}
