import { type SqlBool, sql } from 'kysely'
import { storableText } from '../../platform/db/columns.js'
import type { Db } from '../../platform/db/schema.js'
import type { PassageRow } from './passage-store.js'

/** A position in one generation of a file. */
export interface PassagePosition {
  fileId: string
  generation: number
  position: number
}

/** The columns by which a passage is recognised. */
export type AnchoredPassage = Pick<PassageRow, 'file_id' | 'id' | 'number' | 'position' | 'content'>

/** The passages at some positions in files of a bot. */
export async function listAtPositions(
  db: Db,
  botId: string,
  positions: readonly PassagePosition[],
): Promise<AnchoredPassage[]> {
  if (positions.length === 0) return []
  return await db
    .selectFrom('passages')
    .select(['file_id', 'id', 'number', 'position', 'content'])
    .where('bot_id', '=', botId)
    .where((eb) =>
      eb.or(
        positions.map(({ fileId, generation, position }) =>
          eb.and([
            eb('file_id', '=', fileId),
            eb('generation', '=', generation),
            eb('position', '=', position),
          ]),
        ),
      ),
    )
    .execute()
}

/** At most `limit` passages of a generation that contain one of some texts, in reading order. */
export async function listWithText(
  db: Db,
  { botId, fileId, generation }: { botId: string; fileId: string; generation: number },
  texts: readonly string[],
  limit: number,
): Promise<AnchoredPassage[]> {
  if (texts.length === 0) return []
  return await db
    .selectFrom('passages')
    .select(['file_id', 'id', 'number', 'position', 'content'])
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .where((eb) =>
      eb.or(
        texts.map((text) => {
          // No passage has a NUL, PostgreSQL refuses it, and SQLite ends the pattern there.
          const pattern = `%${storableText(text).replace(/[\\%_]/g, '\\$&')}%`
          return sql<SqlBool>`${eb.ref('content')} like ${pattern} escape '\\'`
        }),
      ),
    )
    .orderBy('position')
    .limit(limit)
    .execute()
}
