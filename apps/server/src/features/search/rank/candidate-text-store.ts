import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../schema.js'
import { toIndexText } from '../text/index-text.js'

/** The words of passages with those of their headings, in the form of `toIndexText`. */
export async function readTexts(db: Db, numbers: readonly number[]): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map()
  const rows = await db
    .selectFrom('passages')
    .select(['number', 'content', 'headings'])
    .where('number', 'in', numbers)
    .execute()
  return new Map(
    rows.map(({ number, content, headings }) => [
      number,
      toIndexText([...decodeJson<string[]>(headings), content].join('\n')),
    ]),
  )
}
