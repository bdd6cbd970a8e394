import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Tx } from '../../platform/db/schema.js'
import type { Queue } from '../../platform/jobs/queue.js'
import { type StoredBytes, shareBlob, useBytes } from './contents/blob-use-store.js'
import { type ContentRow, insertContent } from './contents/content-store.js'
import { type Quotas, recount } from './contents/usage.js'
import { createTeller } from './file-events.js'
import { createFollowUps } from './follow-ups.js'
import { patchFile } from './store.js'
import type { FileRow } from './table.js'

interface RemakeDeps {
  clock: Clock
  queue: Queue
  bus: EventBus
  quotas: Quotas
  /** Removes generations with all that is theirs alone. */
  discard(tx: Tx, botId: string, contents: readonly ContentRow[]): Promise<void>
}

/** How passages are made anew: by a generation that shares the bytes of the one before. */
export function createRemake({ clock, queue, bus, quotas, discard }: RemakeDeps) {
  const { sweepBlobs, index } = createFollowUps(queue)
  const tell = createTeller({ clock, bus })

  /**
   * Begins a generation with the content that is there, to make its passages anew. Those of before
   * are found until then, and stay if it fails.
   * @param content of the latest generation, which has its bytes
   * @param passages given by the caller in place of those of the content; the same as before without
   */
  return async function remake(
    tx: Tx,
    file: FileRow,
    content: ContentRow,
    passages?: StoredBytes,
  ): Promise<FileRow> {
    const wasWaiting = content.status === 'indexing_pending'
    const next: ContentRow = {
      ...content,
      generation: file.generation + 1,
      status: 'indexing_pending',
      indexed: 1,
      // What is public stays so while it is indexed again.
      immediate: wasWaiting ? content.immediate : content.public_content,
      // What was not indexed yet has no passages of its own that could stay.
      remade: wasWaiting ? content.remade : 1,
      passages_blob_key:
        passages === undefined
          ? content.passages_blob_key
          : await useBytes(tx, file.bot_id, passages),
      created_at: isoTime(clock.now()),
    }
    if (next.blob_key !== null) await shareBlob(tx, next.blob_key)
    if (passages === undefined && next.passages_blob_key !== null) {
      await shareBlob(tx, next.passages_blob_key)
    }
    await insertContent(tx, next)
    const patch = {
      generation: next.generation,
      status: next.status,
      indexed: next.indexed,
      failed_reason: null,
      progress: null,
      updated_at: next.created_at,
      // Without a content before, this one is served at once, as it was.
      ...(file.serving_generation === content.generation && {
        serving_generation: next.generation,
      }),
    }
    await patchFile(tx, file.bot_id, file.id, patch)
    const renewed = { ...file, ...patch }
    await discard(tx, file.bot_id, [content])
    if (passages !== undefined) await sweepBlobs(tx)
    await recount(tx, renewed, quotas)
    await index(tx, next)
    await tell(tx, 'file_updated', renewed, next.generation)
    return renewed
  }
}
