import type { Tx } from '../../platform/db/schema.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { ContentRow } from './contents/content-store.js'
import {
  type ClearPassages,
  clearPassagesJob,
  type IndexFile,
  indexAttempts,
  indexDeadline,
  indexFileJob,
  sweepBlobsJob,
} from './job-kinds.js'
import type { FileRow } from './table.js'

/** The jobs that a change of a file leaves, in the transaction of the change. */
export function createFollowUps(queue: Queue) {
  return {
    /** Has blobs removed to which nothing refers any more. */
    async sweepBlobs(tx: Tx): Promise<void> {
      await queue.enqueue(tx, { kind: sweepBlobsJob, key: 'all', payload: {} })
    },

    /** Has passages of a file removed that are of no more use. */
    async clearPassages(tx: Tx, file: FileRow): Promise<void> {
      const payload: ClearPassages = { botId: file.bot_id, fileId: file.id, key: file.key }
      await queue.enqueue(tx, { kind: clearPassagesJob, key: file.id, payload })
    },

    /** Has a generation indexed. */
    async index(tx: Tx, content: ContentRow, passages?: IndexFile['passages']): Promise<void> {
      const { bot_id: botId, file_id: fileId, generation } = content
      const payload: IndexFile = { botId, fileId, generation, passages }
      await queue.enqueue(tx, {
        kind: indexFileJob,
        key: fileId,
        payload,
        maxAttempts: indexAttempts,
        deadlineMs: indexDeadline(content.size),
      })
    },
  }
}
