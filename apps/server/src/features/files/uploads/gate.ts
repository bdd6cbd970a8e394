import { ApiError } from '@botstead/contract'
import { BlobStoreFullError } from '../../../platform/blobs/blob-store.js'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { FileAddresses } from '../addresses.js'
import { findContent, type Generations, patchContent } from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import * as store from '../store.js'
import type { ContentRow, FileRow } from '../table.js'
import { superseded } from './locks.js'

export type UploadGate = ReturnType<typeof createUploadGate>

/** The checks that every request to an upload address passes, before and after its bytes. */
export function createUploadGate(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock'> & {
    bots: Pick<FilesDeps['bots'], 'workspaceOf'>
    generations: Generations
    addresses: FileAddresses
  },
) {
  const { db, run, clock } = deps

  function hasExpired(file: FileRow): boolean {
    return file.expires_at !== null && file.expires_at <= isoTime(clock.now())
  }

  /** The content of an upload address, unless it is gone or has failed. */
  async function find(token: string): Promise<ContentRow> {
    const target = deps.addresses.readUpload(token)
    if (target === 'invalid') {
      throw new ApiError(
        'Forbidden',
        'This upload address is not valid: upsert the file to get one.',
      )
    }
    // 410 is what tus asks for where an upload was there and has expired.
    if (target === 'expired') {
      throw new ApiError(
        'ResourceGone',
        'This upload address worked for 24 hours: upsert the file to get a new one.',
      )
    }
    const file = await store.findAddressedFile(db, target.fileId)
    if (file === undefined || hasExpired(file)) throw fileIsGone()
    if ((await deps.bots.workspaceOf(file.bot_id)) === undefined) throw fileIsGone()
    return requireUsable(await findContent(db, file.bot_id, target))
  }

  /** Runs `work` with the locked file and content if the content still waits for bytes. */
  async function withPending(
    pending: ContentRow,
    work: (tx: Tx, file: FileRow, content: ContentRow) => Promise<void>,
  ): Promise<void> {
    await run(async (tx) => {
      const { bot_id: botId, file_id: fileId, generation } = pending
      const file = await store.lockFile(tx, botId, fileId)
      if (file === undefined) throw fileIsGone()
      const content = await findContent(tx, botId, { fileId, generation })
      await work(tx, file, requirePending(requireUsable(content)))
    })
  }

  /** The content of an upload address, if it still waits for bytes. */
  async function findPending(token: string): Promise<ContentRow> {
    return requirePending(await find(token))
  }

  /** Fails an upload for good; the file contains the reason. Throws `error`. */
  async function fail(pending: ContentRow, error: ApiError): Promise<never> {
    await withPending(pending, (tx, file, content) =>
      deps.generations.failUpload(tx, file, content, error.message),
    )
    throw error
  }

  /** Records in the content which request sends it from now on, after `check` has passed. */
  async function claim(
    pending: ContentRow,
    requestId: string,
    check: (content: ContentRow) => void = () => undefined,
  ): Promise<void> {
    await withPending(pending, async (tx, _file, content) => {
      check(content)
      await patchContent(tx, content.bot_id, targetOf(content), { writer: requestId })
    })
  }

  /** Whether no other request has claimed the content since. */
  async function isClaimedBy(pending: ContentRow, requestId: string): Promise<boolean> {
    const content = await findContent(db, pending.bot_id, targetOf(pending))
    return content?.writer === requestId
  }

  return { find, findPending, withPending, fail, claim, isClaimedBy }
}

export function targetOf({ file_id: fileId, generation }: ContentRow) {
  return { fileId, generation }
}

/** Refuses the bytes of an older request. */
export function requireClaim(content: ContentRow, requestId: string): void {
  if (content.writer !== requestId) throw superseded()
}

export function requireTagging(content: ContentRow, tagging: string | undefined): void {
  if (content.immediate === 0) return
  const tags = new URLSearchParams(tagging ?? '')
  if (tags.get('public') === 'true') return
  throw new ApiError(
    'InvalidPayload',
    'The header x-amz-tagging must be public=true, because the file was made with publicContentImmediatelyAccessible.',
    { metadata: { in: 'headers', field: 'x-amz-tagging' } },
  )
}

function requireUsable(content: ContentRow | undefined): ContentRow {
  if (content !== undefined && content.status !== 'upload_failed') return content
  throw new ApiError(
    'ResourceGone',
    'This upload address is used up: the upload failed or the file was upserted again. Upsert it to get a new one.',
  )
}

function requirePending(content: ContentRow): ContentRow {
  if (content.status === 'upload_pending' && (content.received ?? -1) < content.size) return content
  throw new ApiError(
    'AlreadyExists',
    'The content was sent already: upsert the file again to replace it.',
  )
}

function fileIsGone(): ApiError {
  return new ApiError('ResourceNotFound', 'The file of this upload address does not exist.')
}

export function uploadInterrupted(cause: unknown, advice: string): ApiError {
  return new ApiError('InvalidPayload', `The content ended early: ${advice}.`, { cause })
}

export function wrongSize(declared: number, sent: number): ApiError {
  if (sent > declared) return tooLarge(declared)
  return new ApiError(
    'InvalidPayload',
    `The content is smaller than declared: received ${sent} of ${declared} bytes.`,
  )
}

export function tooLarge(declared: number): ApiError {
  return new ApiError(
    'LimitExceeded',
    `The content is larger than declared: expected at most ${declared} bytes.`,
  )
}

/** The error for the caller when the blob store fails. */
export function toUploadError(error: unknown): unknown {
  if (!(error instanceof BlobStoreFullError)) return error
  return new ApiError(
    'Internal',
    'The server has no room left for this content. Nothing of it was kept: send it again once there is room.',
    { status: 507, cause: error },
  )
}
