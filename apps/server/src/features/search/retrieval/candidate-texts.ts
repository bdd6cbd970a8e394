import { toFileName, toIndexText } from '@botstead/documents/text'
import { LRUCache } from 'lru-cache'
import { decodeJson, type JsonColumn } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { type PassageFacts, readContents, readFacts } from '../passage-text-store.js'

/** A candidate as it is compared with a question, in the form of `toIndexText`. */
export interface CandidateText {
  /** Words of the passage, including those of its headings and of the key of its file. */
  text: string
  /** Name of its file alone. */
  name: string
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

/** Characters of all candidates that one reader keeps; each search thread has a reader. */
const maxCharacters = 16 * 1024 * 1024
/** Counted for each entry besides its text: its name, key, headings and place in a map. */
const charactersPerEntry = 300

/**
 * Makes a reader of candidates that keeps the texts that were read last: normalising a text takes longer than
 * everything else that is done with it.
 */
export function createCandidateReader(): ReadCandidates {
  const texts = new LRUCache<string, CachedCandidate>({
    maxSize: maxCharacters,
    sizeCalculation: ({ text }) => text.length + charactersPerEntry,
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
  return { text: `${toIndexText(file.folders)} ${name} ${text}`, name, key, headings }
}
