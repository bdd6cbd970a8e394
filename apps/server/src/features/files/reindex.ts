import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { isoTime } from '../../platform/clock.js'
import type { Tx } from '../../platform/db/schema.js'
import { type ContentRow, findContent } from './contents/content-store.js'
import type { Generations } from './contents/generations.js'
import { besideLostBlob } from './contents/lost-blobs.js'
import { lockOwnFile } from './require-file.js'
import type { FilesDeps } from './service.js'
import type { FileRow } from './table.js'

export type Remaking = ReturnType<typeof createRemaking>

/** Has the passages of files made anew without another upload. */
export function createRemaking(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'blobs'> & { generations: Generations },
) {
  const { run, clock, blobs, generations } = deps

  /** The locked file that a caller means and may change, with the content of its latest generation. */
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

  return {
    /**
     * Has the passages of a file made anew. A file that waits for its indexing goes on waiting.
     * @throws ApiError `ResourceLockedConflict` while the file has no content
     */
    async reindex(actor: BotActor, idOrKey: string): Promise<FileRow> {
      return await run(async (tx) => {
        const { file, content } = await requireContent(tx, actor, idOrKey)
        if (file.status === 'indexing_pending') return file
        return await generations.remake(tx, file, content)
      })
    },

    /**
     * Gives a file passages in place of those of its content. They are stored before anything else
     * happens, so that they survive whatever comes.
     * @param passages as the pipeline of search reads them
     */
    async replacePassages(actor: BotActor, idOrKey: string, passages: string): Promise<FileRow> {
      // Whoever may not do it must not fill the disk first.
      await run((tx) => requireContent(tx, actor, idOrKey))
      const blobKey = randomUUID()
      const stored = await blobs.put(blobKey, Readable.from([Buffer.from(passages)]))
      try {
        const bytes = await besideLostBlob(deps, actor.botId, { blobKey, ...stored })
        return await run(async (tx) => {
          const { file, content } = await requireContent(tx, actor, idOrKey)
          return await generations.remake(tx, file, content, bytes)
        })
      } catch (error) {
        // If this fails too, the blob is an orphan, and those are swept.
        await blobs.remove(blobKey).catch(() => undefined)
        throw error
      }
    },
  }
}
