import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { ApiError, type Body, type contract } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { lockOwnFile } from '../access.js'
import type { FilesDeps } from '../dependencies.js'
import type { FileEvents } from '../file-events.js'
import { requestBlobSweep, requestIndexing } from '../jobs.js'
import { patchIndexing } from '../rules.js'
import { patchFile } from '../store.js'
import type { ContentRow, FileRow } from '../table.js'
import { lockUsage } from '../usage-store.js'
import { type Generations, reuseOrReplaceBlob } from './generations.js'
import { findContent, insertContent, type StoredBytes, shareBlobs, useBytes } from './store.js'
import { updateUsage } from './usage.js'

type IndexingOptions = NonNullable<Body<typeof contract.filePassages.reindex>['indexing']>

export type Reindexing = ReturnType<typeof createReindexing>

/**
 * Makes the passages of files again without another upload: in a generation that shares the bytes of the
 * previous one.
 */
export function createReindexing(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'blobs' | 'queue' | 'quotas'> & {
    generations: Generations
    events: FileEvents
  },
) {
  const { run, clock, blobs, queue, quotas, generations, events } = deps

  /** The locked file that a caller selected and may change, with the content of its latest generation. */
  async function requireContent(
    tx: Tx,
    actor: BotActor,
    idOrKey: string,
  ): Promise<{ file: FileRow; content: ContentRow }> {
    const file = await lockOwnFile(tx, actor, idOrKey, isoTime(clock.now()), 'index')
    const { id: fileId, generation } = file
    const content = await findContent(tx, actor.botId, { fileId, generation })
    if (content === undefined || content.blob_key === null) {
      throw new ApiError(
        'ResourceLockedConflict',
        `The file has no content to index (${file.status}): send its content first.`,
      )
    }
    return { file, content }
  }

  /**
   * Begins a generation with the existing content, to make its passages again. Until it is complete,
   * search finds the previous passages, which stay if it fails.
   * @param content of the latest generation
   * @param passages from the caller, instead of those of the content; by default those of before
   * @param options what {@link patchIndexing} returns; by default those of before
   */
  async function beginReindex(
    tx: Tx,
    file: FileRow,
    content: ContentRow,
    {
      passages,
      options,
    }: { passages?: StoredBytes; options?: ReturnType<typeof patchIndexing> | undefined } = {},
  ): Promise<FileRow> {
    await lockUsage(tx, file.workspace_id)
    const wasWaiting = content.status === 'indexing_pending'
    const next: ContentRow = {
      ...content,
      generation: file.generation + 1,
      status: 'indexing_pending',
      indexed: 1,
      indexing: options?.indexing ?? content.indexing,
      // A public content stays public while it is indexed again.
      immediate: wasWaiting ? content.immediate : content.public_content,
      // A generation that was not indexed yet has no passages that could stay.
      remade: wasWaiting ? content.remade : 1,
      passages_blob_key:
        passages === undefined
          ? content.passages_blob_key
          : await useBytes(tx, file.bot_id, passages),
      created_at: isoTime(clock.now()),
    }
    await shareBlobs(tx, [next.blob_key, passages === undefined ? next.passages_blob_key : null])
    await insertContent(tx, next)
    const patch = {
      generation: next.generation,
      status: next.status,
      indexed: next.indexed,
      failed_reason: null,
      progress: null,
      updated_at: next.created_at,
      metadata: options?.metadata ?? file.metadata,
      // Without a previous content, this one is served at once, as before.
      ...(file.serving_generation === content.generation && {
        serving_generation: next.generation,
      }),
    }
    await patchFile(tx, file.bot_id, file.id, patch)
    const renewed = { ...file, ...patch }
    await generations.discard(tx, file.bot_id, [content])
    if (passages !== undefined) requestBlobSweep(queue, tx)
    await updateUsage(tx, renewed, quotas)
    await requestIndexing(queue, tx, renewed, next)
    await events.append(tx, 'file_updated', renewed, next.generation)
    return renewed
  }

  return {
    /**
     * Makes the passages of a file again. A file that waits for indexing keeps waiting, unless other
     * options are given.
     * @param indexing options that replace those of the same name from now on
     * @throws ApiError `ResourceLockedConflict` while the file has no content
     */
    async reindex(actor: BotActor, idOrKey: string, indexing?: IndexingOptions): Promise<FileRow> {
      return await run(async (tx) => {
        const { file, content } = await requireContent(tx, actor, idOrKey)
        const options = indexing && patchIndexing(file, content, indexing)
        // Repeated calls must not begin it again and again, or it would never end.
        const isSame = options === undefined || options.indexing === content.indexing
        if (file.status === 'indexing_pending' && isSame) return file
        return await beginReindex(tx, file, content, { options })
      })
    },

    /**
     * Replaces the passages of a file by those of a caller. They are stored first, so that they survive
     * a crash.
     * @param passages in the form that the pipeline of search reads
     */
    async replacePassages(actor: BotActor, idOrKey: string, passages: string): Promise<FileRow> {
      // A refused caller must not fill the disk.
      await run((tx) => requireContent(tx, actor, idOrKey))
      const blobKey = randomUUID()
      const stored = await blobs.put(blobKey, Readable.from([Buffer.from(passages)]))
      try {
        const bytes = await reuseOrReplaceBlob(deps, actor.botId, { blobKey, ...stored })
        return await run(async (tx) => {
          const { file, content } = await requireContent(tx, actor, idOrKey)
          return await beginReindex(tx, file, content, { passages: bytes })
        })
      } catch (error) {
        // If this fails too, the blob is an orphan, which the sweeper removes.
        await blobs.remove(blobKey).catch(() => undefined)
        throw error
      }
    },
  }
}
