import { sql } from 'kysely'
import type { Db } from '../../../platform/db/schema.js'

/** A content that the database refers to. */
export interface ReferredContent {
  key: string
  /** Bytes. */
  size: number
  /** Null for a part of an upload that is not complete. */
  sha256: string | null
}

const pageSize = 1000

/**
 * The contents that a database refers to and does not have itself, by key: those of files, and the parts of
 * uploads that are not complete.
 */
export async function* listReferredContents(db: Db): AsyncGenerator<ReferredContent> {
  let after = ''
  for (;;) {
    const small = db.selectFrom('small_blobs').select('key')
    const page = await db
      .selectFrom('file_blobs')
      .select(['blob_key as key', 'size', sql<string | null>`sha256`.as('sha256')])
      .where('blob_key', '>', after)
      .where('blob_key', 'not in', small)
      .union(
        db
          .selectFrom('content_parts')
          .select(['blob_key as key', 'size', sql<string | null>`null`.as('sha256')])
          .where('blob_key', '>', after)
          .where('blob_key', 'not in', small),
      )
      .orderBy('key')
      .limit(pageSize)
      .execute()
    for (const { key, size, sha256 } of page) yield { key, size: Number(size), sha256 }
    const last = page.at(-1)
    if (last === undefined) return
    after = last.key
  }
}
