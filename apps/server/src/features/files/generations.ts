import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { afterCommit } from '../../platform/db/after-commit.js'
import { appendNextEvent } from '../../platform/events/append.js'
import { announceEvents } from '../../platform/events/hints.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Tx } from '../../schema.js'
import { type ContentRow, discardContents, listContents, patchContent } from './content-store.js'
import {
  type ClearPassages,
  clearPassagesJob,
  type IndexFile,
  indexFileJob,
  sweepBlobsJob,
} from './job-kinds.js'
import { deleteFileRow, type FileRow, patchFile } from './store.js'
import type { FileStatus } from './table.js'
import { type Quotas, recount, uncount } from './usage.js'

/** What the log of a bot says about its files. */
export type FileEvent =
  | 'file_created'
  | 'file_updated'
  | 'file_upload_completed'
  | 'file_upload_failed'
  | 'file_indexing_completed'
  | 'file_indexing_failed'
  | 'file_deleted'

interface GenerationsDeps {
  clock: Clock
  queue: Queue
  bus: EventBus
  quotas: Quotas
}

/** What an upload turned out to be. */
export interface Uploaded {
  blobKey: string
  sha256: string
}

export type Generations = ReturnType<typeof createGenerations>

/**
 * How a file moves on. Every upsert begins a generation with the status `upload_pending`:
 *
 *     upload_pending → upload_failed | upload_completed | indexing_pending
 *     indexing_pending → indexing_completed | indexing_failed
 *
 * The file shows the status of its latest generation. Content and passages of the one before are
 * served until the new one has nothing left to do; then they change places in one transaction. All
 * functions work on a file that the transaction has locked.
 */
export function createGenerations({ clock, queue, bus, quotas }: GenerationsDeps) {
  async function tell(tx: Tx, type: FileEvent, file: FileRow, generation: number): Promise<void> {
    const stream = `bot:${file.bot_id}`
    const sequence = await appendNextEvent(tx, {
      stream,
      botId: file.bot_id,
      type,
      subjectId: file.id,
      data: { key: file.key, generation },
      createdAt: isoTime(clock.now()),
    })
    afterCommit(tx, () => announceEvents(bus, stream, sequence))
  }

  async function discard(tx: Tx, contents: readonly ContentRow[]): Promise<void> {
    await discardContents(tx, contents)
    if (contents.every(({ blob_key }) => blob_key === null)) return
    await queue.enqueue(tx, { kind: sweepBlobsJob, key: 'all', payload: {} })
  }

  async function clearPassages(tx: Tx, file: FileRow): Promise<void> {
    const payload: ClearPassages = { botId: file.bot_id, fileId: file.id }
    await queue.enqueue(tx, { kind: clearPassagesJob, key: file.id, payload })
  }

  /** Moves a generation on, and the file with it when it is the latest. */
  async function moveTo(
    tx: Tx,
    file: FileRow,
    content: ContentRow,
    status: FileStatus,
    failedReason: string | null = null,
  ): Promise<void> {
    await patchContent(tx, file.id, content.generation, { status })
    if (content.generation !== file.generation) return
    await patchFile(tx, file.id, {
      status,
      failed_reason: failedReason,
      updated_at: isoTime(clock.now()),
    })
  }

  /** Gives a generation the place of the one before, which goes. */
  async function serve(
    tx: Tx,
    file: FileRow,
    content: ContentRow,
    passages: { searchable: boolean },
  ): Promise<void> {
    await patchFile(tx, file.id, {
      serving_generation: content.generation,
      passages_generation: passages.searchable ? content.generation : null,
      passages_shared: passages.searchable && content.shared === 1 ? 1 : 0,
    })
    const contents = await listContents(tx, file.id)
    await discard(
      tx,
      contents.filter(({ generation }) => generation < content.generation),
    )
    // Only what came before, or came half way, leaves passages behind.
    const failed = content.indexed === 1 && !passages.searchable
    if (content.generation > 1 || failed) await clearPassages(tx, file)
  }

  return {
    /** Begins a generation: uploads to the one before are refused from now on. */
    async begin(tx: Tx, file: FileRow): Promise<void> {
      const contents = await listContents(tx, file.id)
      await discard(
        tx,
        contents.filter(
          ({ generation, status }) =>
            generation < file.generation &&
            (status === 'upload_pending' || status === 'upload_failed'),
        ),
      )
      await recount(tx, file, quotas)
      await tell(tx, file.generation === 1 ? 'file_created' : 'file_updated', file, file.generation)
    },

    /** The content is there. */
    async completeUpload(
      tx: Tx,
      file: FileRow,
      content: ContentRow,
      uploaded: Uploaded,
    ): Promise<void> {
      await patchContent(tx, file.id, content.generation, {
        blob_key: uploaded.blobKey,
        sha256: uploaded.sha256,
      })
      await patchFile(tx, file.id, { size: content.size })
      if (content.indexed === 1) {
        await moveTo(tx, file, content, 'indexing_pending')
        // Without a content before there is nothing to wait for, and a public one may be in a hurry.
        if (file.serving_generation === null || content.immediate === 1) {
          await patchFile(tx, file.id, { serving_generation: content.generation })
        }
        const { id: fileId, bot_id: botId } = file
        const payload: IndexFile = { botId, fileId, generation: content.generation }
        await queue.enqueue(tx, { kind: indexFileJob, key: fileId, payload })
      } else {
        await moveTo(tx, file, content, 'upload_completed')
        await serve(tx, file, content, { searchable: false })
        await recount(tx, file, quotas)
      }
      await tell(tx, 'file_upload_completed', file, content.generation)
    },

    /** The content was refused; a content before it stays. */
    async failUpload(tx: Tx, file: FileRow, content: ContentRow, reason: string): Promise<void> {
      await moveTo(tx, file, content, 'upload_failed', reason)
      await recount(tx, file, quotas)
      await tell(tx, 'file_upload_failed', file, content.generation)
    },

    /** The passages are there, or it is known why there are none: then the file has none. */
    async finishIndexing(
      tx: Tx,
      file: FileRow,
      content: ContentRow,
      failedReason: string | undefined,
    ): Promise<void> {
      const searchable = failedReason === undefined
      const status = searchable ? 'indexing_completed' : 'indexing_failed'
      await moveTo(tx, file, content, status, failedReason ?? null)
      await serve(tx, file, content, { searchable })
      await recount(tx, file, quotas)
      await tell(
        tx,
        searchable ? 'file_indexing_completed' : 'file_indexing_failed',
        file,
        content.generation,
      )
    },

    /** Hides a file at once; what it leaves behind is swept. */
    async remove(tx: Tx, file: FileRow): Promise<void> {
      await discard(tx, await listContents(tx, file.id))
      await uncount(tx, file)
      await deleteFileRow(tx, file.id)
      await clearPassages(tx, file)
      await tell(tx, 'file_deleted', file, file.generation)
    },
  }
}
