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

/** At most `limit` passages of a generation in order, from a position on. */
export async function listFromPosition(
  db: Db,
  { botId, fileId, generation }: { botId: string; fileId: string; generation: number },
  { from, limit }: { from: number; limit: number },
): Promise<AnchoredPassage[]> {
  return await db
    .selectFrom('passages')
    .select(['file_id', 'id', 'number', 'position', 'content'])
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .where('position', '>=', from)
    .orderBy('position')
    .limit(limit)
    .execute()
}
