import { toFileName, toIndexText } from '@botstead/documents/text'
import { LRUCache } from 'lru-cache'
import { decodeJson, type JsonColumn } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { type PassageFacts, readContents, readFacts } from '../passage-text-store.js'
import { type HashedText, hashText } from './gram-hash.js'

/**
 * A candidate as it is compared with a question: the words of the passage, including those of its headings and of the
 * key of its file.
 */
export interface CandidateText extends HashedText {
  /** Name of its file alone. */
  name: HashedText
}

/** Reads candidates by their numbers; those that were deleted are omitted. */
export type ReadCandidates = (
  db: Db,
  numbers: readonly number[],
) => Promise<ReadonlyMap<number, CandidateText>>

/** A candidate with what its text was made of, besides the content of its passage. */
interface CachedCandidate extends CandidateText {
  key: string
  headings: JsonColumn
}

/** Memory for all candidates that one reader keeps; each search thread has a reader. */
const maximumBytes = 48 * 1024 * 1024
/** A character of most texts, and its hash. */
const bytesPerCharacter = 3
/** Counted for each entry besides its text: its name, key, headings and place in a map. */
const bytesPerEntry = 500

/**
 * Makes a reader of candidates that keeps the texts that were read last: normalising and hashing a text takes longer
 * than everything else that is done with it.
 */
export function createCandidateReader(): ReadCandidates {
  const texts = new LRUCache<string, CachedCandidate>({
    maxSize: maximumBytes,
    sizeCalculation: ({ text }) => text.length * bytesPerCharacter + bytesPerEntry,
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

function toCandidate({ key, headings }: PassageFacts, content: string): CachedCandidate {
  const file = toFileName(key)
  const name = toIndexText(file.name)
  const text = toIndexText([...decodeJson<string[]>(headings), content].join('\n'))
  const whole = hashText(`${toIndexText(file.folders)} ${name} ${text}`)
  return { ...whole, name: hashText(name), key, headings }
}
