import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../platform/db/schema.js'
import { groupBy } from '../../platform/group-by.js'
import { type AnchoredPassage, listFromPosition } from '../search/index.js'

/** A passage as it was judged. Passages change with every indexing, so it is recognised by its text. */
export interface PassageAnchor {
  /** UUID of the passage that had the text last. */
  id: string
  /** Its position in the file. */
  position: number
  /** SHA-256 of its content in hex. */
  hash: string
  /** Beginning of its content. */
  text: string
  /** Parts of its content from the beginning, the middle and the end. */
  quotes: readonly string[]
}

/** The passage that has the text of a judged one. */
export interface TextMatch {
  passage: AnchoredPassage
  /** Whether it has the same text and no other. */
  isSame: boolean
}

/** Passages that are read at once; other requests have their turn after each. */
const passagesAtOnce = 50
/** Characters of a quote that are looked for: the first ones. */
const seedLength = 64
/** Passages that are compared with one judged passage: the first ones that have one of its quotes. */
const maxCompared = 20

/** A judged passage that is looked for. */
interface Wanted {
  anchor: PassageAnchor
  compared: number
  same?: AnchoredPassage
  best?: { passage: AnchoredPassage; quotes: number; distance: number }
}

/** What is looked for in each passage. */
interface Wants {
  byHash: ReadonlyMap<string, readonly Wanted[]>
  /** By their length, the beginnings of quotes. */
  bySeed: ReadonlyMap<number, ReadonlyMap<string, ReadonlySet<Wanted>>>
}

/**
 * Finds judged passages by their texts: the passage with the same text, or the one with most of its quotes, of those the
 * nearest. One pass over the passages of the file finds all of them: its work does not grow with their number, which
 * callers choose.
 */
export async function findTexts(
  db: Db,
  place: { botId: string; fileId: string; generation: number },
  anchors: readonly PassageAnchor[],
): Promise<Map<PassageAnchor, TextMatch>> {
  const all = anchors.map((anchor): Wanted => ({ anchor, compared: 0 }))
  const wants = toWants(all)
  let from = 0
  for (;;) {
    const passages = await listFromPosition(db, place, { from, limit: passagesAtOnce })
    for (const passage of passages) compare(passage, wants)
    const last = passages.at(-1)
    if (last === undefined || passages.length < passagesAtOnce) break
    from = last.position + 1
    await nextTurn()
  }
  return new Map(
    all.flatMap(({ anchor, same, best }) => {
      const passage = same ?? best?.passage
      return passage === undefined ? [] : [[anchor, { passage, isSame: same !== undefined }]]
    }),
  )
}

export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

function toWants(all: readonly Wanted[]): Wants {
  const bySeed = new Map<number, Map<string, Set<Wanted>>>()
  for (const wanted of all) {
    for (const quote of wanted.anchor.quotes) {
      const seed = quote.slice(0, seedLength)
      const ofLength = bySeed.get(seed.length) ?? new Map<string, Set<Wanted>>()
      bySeed.set(seed.length, ofLength.set(seed, (ofLength.get(seed) ?? new Set()).add(wanted)))
    }
  }
  return { byHash: groupBy(all, ({ anchor }) => anchor.hash), bySeed }
}

function compare(passage: AnchoredPassage, { byHash, bySeed }: Wants): void {
  for (const wanted of byHash.get(hashOf(passage.content)) ?? []) wanted.same ??= passage
  for (const [wanted, quotes] of countQuotes(passage.content, bySeed)) {
    wanted.compared += 1
    const distance = Math.abs(passage.position - wanted.anchor.position)
    const { best } = wanted
    const isBetter =
      best === undefined ||
      quotes > best.quotes ||
      (quotes === best.quotes && distance < best.distance)
    if (isBetter) wanted.best = { passage, quotes, distance }
  }
}

/** The number of quotes that a text has, by the judged passage that they are from. */
function countQuotes(content: string, bySeed: Wants['bySeed']): Map<Wanted, number> {
  const counts = new Map<Wanted, number>()
  for (const [length, ofLength] of bySeed) {
    const found = new Set<ReadonlySet<Wanted>>()
    for (let at = 0; at + length <= content.length; at++) {
      const some = ofLength.get(content.slice(at, at + length))
      if (some !== undefined) found.add(some)
    }
    for (const some of found) {
      for (const wanted of some) {
        if (wanted.compared < maxCompared) counts.set(wanted, (counts.get(wanted) ?? 0) + 1)
      }
    }
  }
  return counts
}
