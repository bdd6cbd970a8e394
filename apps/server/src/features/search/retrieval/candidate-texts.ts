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

/** What a text was made of, besides the content of its passage. */
interface Kept extends CandidateText {
  key: string
  headings: JsonColumn
}

/** Most characters that one process or thread keeps. */
const maxCharacters = 16 * 1024 * 1024
/** Additional characters per entry: its keys and its place in a map. */
const charactersPerEntry = 300

/**
 * Makes a reader of candidates that remembers the texts of passages that were candidates before: normalising
 * them takes longer than everything else that is done with them.
 */
export function createCandidateReader(): ReadCandidates {
  const texts = new LRUCache<string, Kept>({
    maxSize: maxCharacters,
    sizeCalculation: ({ text }) => text.length + charactersPerEntry,
  })
  return async (db, numbers) => {
    const candidates = new Map<number, Kept>()
    const unknown: PassageFacts[] = []
    for (const passage of await readFacts(db, numbers)) {
      const kept = texts.get(passage.id)
      const isCurrent = kept?.key === passage.key && kept.headings === passage.headings
      if (kept !== undefined && isCurrent) candidates.set(passage.number, kept)
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

function toCandidate({ key, headings }: PassageFacts, content: string): Kept {
  const file = toFileName(key)
  const name = toIndexText(file.name)
  const text = toIndexText([...decodeJson<string[]>(headings), content].join('\n'))
  return { text: `${toIndexText(file.folders)} ${name} ${text}`, name, key, headings }
}
