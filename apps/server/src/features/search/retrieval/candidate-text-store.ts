import { type FileName, toFileName, toIndexText } from '@botstead/documents/text'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import { fileKeys } from '../../files/lookup/index.js'

/** What of a candidate is compared with a question, in the form of `toIndexText`. */
export interface CandidateTexts {
  /** Words of passages, with those of their headings and of the keys of their files. */
  texts: ReadonlyMap<number, string>
  /** Names of their files alone. */
  names: ReadonlyMap<number, string>
}

/** Reads what some passages say, and what their files are called. */
export async function readTexts(db: Db, numbers: readonly number[]): Promise<CandidateTexts> {
  if (numbers.length === 0) return { texts: new Map(), names: new Map() }
  const rows = await db
    .selectFrom('passages')
    .innerJoin(fileKeys(db).as('file'), 'file.file_id', 'passages.file_id')
    .select(['passages.number', 'passages.content', 'passages.headings', 'file.key'])
    .where('passages.number', 'in', numbers)
    .execute()
  // Most candidates of a question are of a few files.
  const known = new Map<string, FileName>()
  const texts = new Map<number, string>()
  const names = new Map<number, string>()
  for (const { number, content, headings, key } of rows) {
    const { folders, name } = known.get(key) ?? toWords(toFileName(key))
    known.set(key, { folders, name })
    const text = toIndexText([...decodeJson<string[]>(headings), content].join('\n'))
    texts.set(number, `${folders} ${name} ${text}`)
    names.set(number, name)
  }
  return { texts, names }
}

function toWords({ folders, name }: FileName): FileName {
  return { folders: toIndexText(folders), name: toIndexText(name) }
}
