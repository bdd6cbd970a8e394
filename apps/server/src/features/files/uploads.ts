import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import { BlobTooLargeError } from '../../platform/blobs/blob-store.js'
import { isoTime } from '../../platform/clock.js'
import type { Tx } from '../../schema.js'
import type { FileAddresses, UploadTarget } from './addresses.js'
import { type ContentRow, findContent } from './content-store.js'
import type { Generations } from './generations.js'
import type { FilesDeps } from './service.js'
import * as store from './store.js'

/** A content that somebody sends to an upload address. */
export interface Upload {
  /** Last segment of the address. */
  token: string
  /** Value of `x-amz-tagging`. */
  tagging: string | undefined
  /** Bytes that follow, if the sender says so. */
  length: number | undefined
  stream: Readable
}

export type Uploads = ReturnType<typeof createUploads>

export function createUploads(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'blobs' | 'bots'> & {
    generations: Generations
    addresses: FileAddresses
  },
) {
  const { db, run, clock, blobs, generations } = deps

  function hasExpired(file: store.FileRow): boolean {
    return file.expires_at !== null && file.expires_at <= isoTime(clock.now())
  }

  /** The generation that an address is for, if it can still take a content. */
  async function requireOpen(target: UploadTarget): Promise<ContentRow> {
    const file = await store.findAddressedFile(db, target.fileId)
    if (file === undefined || hasExpired(file)) throw fileIsGone()
    if ((await deps.bots.workspaceOf(file.bot_id)) === undefined) throw fileIsGone()
    return requirePending(await findContent(db, file.bot_id, target))
  }

  /** Runs `work` with the locked file and generation if both still wait for the content. */
  async function settle(
    pending: ContentRow,
    work: (tx: Tx, file: store.FileRow, content: ContentRow) => Promise<void>,
  ): Promise<void> {
    await run(async (tx) => {
      const { bot_id: botId, file_id: fileId, generation } = pending
      const file = await store.lockFile(tx, botId, fileId)
      if (file === undefined) throw fileIsGone()
      const content = await findContent(tx, botId, { fileId, generation })
      await work(tx, file, requirePending(content))
    })
  }

  /** Gives the upload up for good: what is wrong with it is part of the file. */
  async function fail(pending: ContentRow, error: ApiError): Promise<never> {
    await settle(pending, (tx, file, content) =>
      generations.failUpload(tx, file, content, error.message),
    )
    throw error
  }

  async function storeBlob(content: ContentRow, upload: Upload) {
    const blobKey = randomUUID()
    try {
      const stored = await blobs.put(blobKey, upload.stream, { maxBytes: content.size })
      return { blobKey, ...stored }
    } catch (error) {
      if (error instanceof BlobTooLargeError) return await fail(content, tooLarge(content.size))
      // Nobody is left to read the answer, but it was not the server that failed.
      if (upload.stream.errored) throw brokenOff(error)
      throw error
    }
  }

  return {
    /**
     * Takes the content of a file. What breaks off leaves the file as it was, so that the same
     * address can be tried again; what is too long is refused as soon as that is known.
     */
    async receive(upload: Upload): Promise<void> {
      const target = deps.addresses.readUpload(upload.token)
      if (target === undefined) {
        throw new ApiError(
          'Forbidden',
          'This upload address is not valid or no longer valid: upsert the file to get a new one.',
        )
      }
      const content = await requireOpen(target)
      requireTagging(content, upload.tagging)
      if (upload.length !== undefined && upload.length !== content.size) {
        await fail(content, wrongSize(content.size, upload.length))
      }

      const { blobKey, sha256, size } = await storeBlob(content, upload)
      try {
        if (size !== content.size) await fail(content, wrongSize(content.size, size))
        await settle(content, (tx, file, pending) =>
          generations.completeUpload(tx, file, pending, { blobKey, sha256, size }),
        )
      } catch (error) {
        // If this fails too, the blob is an orphan, and those are swept.
        await blobs.remove(blobKey).catch(() => undefined)
        throw error
      }
    },
  }
}

function requirePending(content: ContentRow | undefined): ContentRow {
  if (content?.status === 'upload_pending') return content
  if (content === undefined || content.status === 'upload_failed') {
    throw new ApiError(
      'ResourceGone',
      'This upload address is used up: the upload failed or the file was upserted again. Upsert it to get a new one.',
    )
  }
  throw new ApiError(
    'AlreadyExists',
    'The content was sent already: upsert the file again to replace it.',
  )
}

function requireTagging(content: ContentRow, tagging: string | undefined): void {
  if (content.immediate === 0) return
  const tags = new URLSearchParams(tagging ?? '')
  if (tags.get('public') === 'true') return
  throw new ApiError(
    'InvalidPayload',
    'The header x-amz-tagging must be public=true, because the file was made with publicContentImmediatelyAccessible.',
    { metadata: { in: 'headers', field: 'x-amz-tagging' } },
  )
}

function fileIsGone(): ApiError {
  return new ApiError('ResourceNotFound', 'The file of this upload address does not exist.')
}

function brokenOff(cause: unknown): ApiError {
  return new ApiError('InvalidPayload', 'The content broke off: send it again from its start.', {
    cause,
  })
}

function wrongSize(declared: number, sent: number): ApiError {
  if (sent > declared) return tooLarge(declared)
  return new ApiError(
    'InvalidPayload',
    `The content is smaller than declared: ${sent} of ${declared} bytes came.`,
  )
}

function tooLarge(declared: number): ApiError {
  return new ApiError(
    'LimitExceeded',
    `The content is larger than declared: at most ${declared} bytes were to come.`,
  )
}
