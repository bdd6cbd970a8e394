import { ApiError } from '@botstead/contract'
import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { FileAddresses } from '../addresses.js'
import { type ContentRow, findContent, patchContent } from '../contents/content-store.js'
import type { Generations } from '../contents/generations.js'
import type { FilesDeps } from '../service.js'
import * as store from '../store.js'
import type { FileRow } from '../table.js'
import { takenOver } from './locks.js'

export type UploadGate = ReturnType<typeof createUploadGate>

/** What every request at an upload address has to pass, before and after its bytes. */
export function createUploadGate(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'bots'> & {
    generations: Generations
    addresses: FileAddresses
  },
) {
  const { db, run, clock } = deps

  function hasExpired(file: FileRow): boolean {
    return file.expires_at !== null && file.expires_at <= isoTime(clock.now())
  }

  /** The content that an address is for, unless it is gone or has failed. */
  async function find(token: string): Promise<ContentRow> {
    const target = deps.addresses.readUpload(token)
    if (target === undefined) {
      throw new ApiError(
        'Forbidden',
        'This upload address is not valid or no longer valid: upsert the file to get a new one.',
      )
    }
    const file = await store.findAddressedFile(db, target.fileId)
    if (file === undefined || hasExpired(file)) throw fileIsGone()
    if ((await deps.bots.workspaceOf(file.bot_id)) === undefined) throw fileIsGone()
    return requireUseful(await findContent(db, file.bot_id, target))
  }

  /** Runs `work` with the locked file and content if both still wait for bytes. */
  async function settle(
    pending: ContentRow,
    work: (tx: Tx, file: FileRow, content: ContentRow) => Promise<void>,
  ): Promise<void> {
    await run(async (tx) => {
      const { bot_id: botId, file_id: fileId, generation } = pending
      const file = await store.lockFile(tx, botId, fileId)
      if (file === undefined) throw fileIsGone()
      const content = await findContent(tx, botId, { fileId, generation })
      await work(tx, file, requirePending(requireUseful(content)))
    })
  }

  return {
    find,
    settle,

    /** The content that an address is for, if it still waits for bytes. */
    async requireOpen(token: string): Promise<ContentRow> {
      return requirePending(await find(token))
    },

    /** Gives an upload up for good: what is wrong with it is part of the file. */
    async fail(pending: ContentRow, error: ApiError): Promise<never> {
      await settle(pending, (tx, file, content) =>
        deps.generations.failUpload(tx, file, content, error.message),
      )
      throw error
    },

    /** Notes in the content who sends it from now on, after `check` has passed it. */
    async claim(
      pending: ContentRow,
      writer: string,
      check: (content: ContentRow) => void = () => undefined,
    ): Promise<void> {
      await settle(pending, async (tx, _file, content) => {
        check(content)
        await patchContent(tx, content.bot_id, targetOf(content), { writer })
      })
    },

    /** Whether nobody has claimed the content since. */
    async isClaimedBy(pending: ContentRow, writer: string): Promise<boolean> {
      const content = await findContent(db, pending.bot_id, targetOf(pending))
      return content?.writer === writer
    },
  }
}

export function targetOf({ file_id: fileId, generation }: ContentRow) {
  return { fileId, generation }
}

/** Refuses what an older request still brings. */
export function requireClaim(content: ContentRow, writer: string): void {
  if (content.writer !== writer) throw takenOver()
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

function requireUseful(content: ContentRow | undefined): ContentRow {
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
