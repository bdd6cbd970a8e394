import type { Client } from '@botstead/contract'

type Page = Awaited<ReturnType<Client['getConversationTimeline']>>

/** Something that happened in a conversation. */
export type TimelineEntry = Page['entries'][number]

/** A delivery about an entry. */
export type TimelineDelivery = Extract<TimelineEntry, { kind: 'message' }>['deliveries'][number]

/** The loaded part of a timeline; a token is absent where that end is reached. */
export interface TimelineWindow {
  entries: readonly TimelineEntry[]
  previousToken?: string | undefined
  nextToken?: string | undefined
}

export function windowOf({ entries, meta }: Page): TimelineWindow {
  return { entries, previousToken: meta.previousToken, nextToken: meta.nextToken }
}

/** Puts the page before the window at its beginning. */
export function addEarlier(window: TimelineWindow, { entries, meta }: Page): TimelineWindow {
  const known = new Set(window.entries.map(({ id }) => id))
  const added = entries.filter(({ id }) => !known.has(id))
  return {
    ...window,
    entries: [...added, ...window.entries],
    previousToken: meta.previousToken,
  }
}

/** Puts the page behind the window at its end. */
export function addLater(window: TimelineWindow, { entries, meta }: Page): TimelineWindow {
  const known = new Set(window.entries.map(({ id }) => id))
  const added = entries.filter(({ id }) => !known.has(id))
  return { ...window, entries: [...window.entries, ...added], nextToken: meta.nextToken }
}

/**
 * The window with the newest page in place of what it had from there on: entries change, move and vanish.
 * Undefined if there is a gap between them. Unchanged entries stay the same objects, and so does a window
 * in which nothing changed.
 */
export function renewEnd(window: TimelineWindow, page: Page): TimelineWindow | undefined {
  const known = new Map(window.entries.map((entry, index) => [entry.id, { entry, index }]))
  const first = page.entries.find(({ id }) => known.has(id))
  if (first === undefined && page.meta.previousToken !== undefined && known.size > 0) {
    return undefined
  }
  const renewed = page.entries.map((entry) => {
    const old = known.get(entry.id)?.entry
    return old !== undefined && isEqual(old, entry) ? old : entry
  })
  const [start] = page.entries
  if (start === undefined) return window.entries.length === 0 ? window : windowOf(page)
  const startIndex = known.get(start.id)?.index ?? 0
  const inPage = new Set(page.entries.map(({ id }) => id))
  // Nothing is before a page that has the first entry: what is not in it has vanished.
  const kept = window.entries.filter(
    ({ id, at }, index) =>
      page.meta.previousToken !== undefined &&
      !inPage.has(id) &&
      (at < start.at || (at === start.at && index < startIndex)),
  )
  const entries = [...kept, ...renewed]
  const isSame =
    entries.length === window.entries.length &&
    entries.every((entry, index) => entry === window.entries[index])
  if (isSame) return window
  const previousToken = kept.length > 0 ? window.previousToken : page.meta.previousToken
  return { entries, previousToken }
}

/** Entries are what JSON is made of, with members in the order of the server. */
function isEqual(a: TimelineEntry, b: TimelineEntry): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
