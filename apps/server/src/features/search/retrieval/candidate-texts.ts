import { isStopword, toFileName, toIndexFields, toIndexText } from '@botstead/documents/text'
import { LRUCache } from 'lru-cache'
import { decodeJson, type JsonColumn } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { type PassageFacts, readContents, readFacts } from '../passage-text-store.js'
import { type HashedText, hashText } from './gram-hash.js'
import { type StemmedText, stemText } from './word-ranks.js'

/**
 * A candidate as it is compared with a question: the words of the passage, including those of its headings and of the
 * key of its file.
 */
export interface CandidateText extends HashedText {
  /** Name of its file alone. */
  name: HashedText
  /** The words of each heading in it, or of the one above it, without function words. */
  titles: readonly (readonly string[])[]
  /** Equal for passages of one file below the same heading; undefined without a heading above. */
  section?: string
  /** Its words as in the index. */
  words: StemmedText
}

/** Reads candidates by their numbers; those that were deleted are omitted. */
export type ReadCandidates = (
  db: Db,
  numbers: readonly number[],
) => Promise<ReadonlyMap<number, CandidateText>>

/** A candidate with the sources of its text other than the content of its passage. */
interface CachedCandidate extends CandidateText {
  key: string
  headings: JsonColumn
}

/** Memory for all candidates that one reader keeps; each search thread has a reader. */
const maximumBytes = 48 * 1024 * 1024
/** A character of most texts, its hash, and its part of the stem of a word. */
const bytesPerCharacter = 4
/** A word of a heading, as a text of its own in a list. */
const bytesPerWord = 48
/** Counted for each entry besides its text: its name, key, headings and place in a map. */
const bytesPerEntry = 500

/**
 * Makes a reader of candidates that keeps the texts that were read last: normalising and hashing a text takes longer
 * than everything else that is done with it.
 */
export function createCandidateReader(): ReadCandidates {
  const texts = new LRUCache<string, CachedCandidate>({
    maxSize: maximumBytes,
    sizeCalculation: ({ text, titles }) =>
      text.length * bytesPerCharacter + titles.flat().length * bytesPerWord + bytesPerEntry,
  })
  return async (db, numbers) => {
    const candidates = new Map<number, CachedCandidate>()
    const unknown: PassageFacts[] = []
    for (const passage of await readFacts(db, numbers)) {
      const cached = texts.get(passage.id)
      const isCurrent = cached?.key === passage.key && cached.headings === passage.headings
      if (cached !== undefined && isCurrent) candidates.set(passage.number, cached)
      else unknown.push(passage)
    }
    const contents = await readContents(
      db,
      unknown.map(({ number }) => number),
    )
    for (const passage of unknown) {
      const content = contents.get(passage.number)
      if (content === undefined) continue
      const candidate = toCandidate(passage, content)
      texts.set(passage.id, candidate)
      candidates.set(passage.number, candidate)
    }
    return candidates
  }
}

function toCandidate(
  { key, headings, own_headings }: PassageFacts,
  content: string,
): CachedCandidate {
  const file = toFileName(key)
  const above = decodeJson<string[]>(headings)
  const name = toIndexText(file.name)
  const text = toIndexText([...above, content].join('\n'))
  const whole = hashText(`${toIndexText(file.folders)} ${name} ${text}`)
  const ownHeadings = decodeJson<string[]>(own_headings)
  const titles = toTitles(ownHeadings.length > 0 ? ownHeadings : above.slice(-1))
  // The first passage below a heading has that heading itself, and its own.
  const parents = above.length > 0 ? above : ownHeadings.slice(0, -1)
  const section = parents.length > 0 ? [key, ...parents].join('\n') : undefined
  const passage = { content, headings: above, ownHeadings }
  return {
    ...whole,
    name: hashText(name),
    words: stemText(toIndexFields(passage, key)),
    titles,
    ...(section !== undefined && { section }),
    key,
    headings,
  }
}

/** A passage with more headings is a list of them. */
const maxTitles = 8
const maxWordsOfTitle = 30

function toTitles(headings: readonly string[]): string[][] {
  return headings.slice(0, maxTitles).flatMap((heading) => {
    const words = toIndexText(heading).split(' ').slice(0, maxWordsOfTitle)
    const naming = [...new Set(words)].filter((word) => word !== '' && !isStopword(word))
    return naming.length > 0 ? [naming] : []
  })
}
