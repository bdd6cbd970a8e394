import type { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import {
  BlobNotFoundError,
  BlobRangeError,
  type ByteRange,
  type DirectAccess,
  type ReadAddressOptions,
} from '../../../platform/blobs/blob-store.js'
import { isoTime } from '../../../platform/clock.js'
import type { FileAddresses } from '../addresses.js'
import type { FilesDeps } from '../dependencies.js'
import { createContentReader } from './content-reader.js'
import { type ContentRequest, type ContentResponse, describeResponse } from './content-response.js'
import { findServedContent, type ServedContentRow } from './store.js'

/** The content of a file that a caller may read. */
interface ServedContent {
  /** Key of the file. */
  key: string
  contentType: string
  /** Bytes. */
  size: number
  sha256: string
  isPublic: boolean
  /** Key of the blob. */
  blobKey: string
  /** Opens bytes; undefined when the content was replaced or deleted in the meantime, or is lost. */
  open(range: ByteRange | undefined): Promise<Readable | Buffer | undefined>
  /** Whether the store has the blob with the right size. */
  hasBytes(): Promise<boolean>
  /** The address at which the store itself serves the content; absent where it cannot. */
  addressOf?(options: Omit<ReadAddressOptions, 'seconds'>): Promise<string>
}

/** The parts of an address. */
interface ContentAddress {
  fileId: string
  signature?: string
  /** Whether the caller prefers to read from the store itself. */
  direct?: boolean
}

/** Time in which a direct download must start, in seconds. */
const readLifetime = 15 * 60
/** Maximum number of lookups of a content that is replaced in the meantime. */
const maxLookups = 5

export type Downloads = ReturnType<typeof createDownloads>

/**
 * Makes the responses to downloads. They throw `ResourceNotFound` for a content that is private or
 * missing, `Forbidden` for an invalid signature, and `ResourceGone` for a content whose bytes are lost.
 */
export function createDownloads(
  deps: Pick<FilesDeps, 'db' | 'clock' | 'blobs' | 'bots'> & { addresses: FileAddresses },
) {
  const { db, blobs } = deps
  const read = createContentReader(blobs)

  async function findServed(fileId: string) {
    const served = await findServedContent(db, fileId)
    if (served === undefined) return undefined
    const { expires_at, blob_key: blobKey, sha256 } = served
    if (expires_at !== null && expires_at <= isoTime(deps.clock.now())) return undefined
    if (blobKey === null || sha256 === null) return undefined
    if ((await deps.bots.workspaceOf(served.bot_id)) === undefined) return undefined
    return { ...served, blobKey, sha256 }
  }

  /**
   * Finds the content at an address.
   * @param signature of the address; without one, only public content is found
   */
  async function find(fileId: string, signature: string | undefined): Promise<ServedContent> {
    if (signature !== undefined && !deps.addresses.isSigned(fileId, signature)) {
      throw new ApiError(
        'Forbidden',
        'This address is not valid or no longer valid: get the file to have a new one.',
      )
    }
    const served = await findServed(fileId)
    // Without a signature, private and missing contents cannot be distinguished.
    if (served === undefined || (signature === undefined && !isPublic(served))) {
      throw new ApiError('ResourceNotFound', 'There is no content at this address.')
    }
    const { key, size, blobKey, sha256 } = served
    return {
      key,
      contentType: served.content_type,
      size,
      sha256,
      isPublic: isPublic(served),
      blobKey,
      hasBytes: async () => (await blobs.head(blobKey))?.size === size,
      ...(blobs.direct && { addressOf: readAddress(blobs.direct, blobKey) }),
      open: async (range) => {
        try {
          return await read(blobKey, size, range)
        } catch (error) {
          if (error instanceof BlobNotFoundError || error instanceof BlobRangeError)
            return undefined
          throw error
        }
      },
    }
  }

  /**
   * The response to a request, with the bytes opened. A content that is replaced between the reading of
   * its row and the opening of its bytes is looked up again: there was one at every moment. Bytes that
   * are missing without a replacement are lost, which callers can repair.
   */
  async function respond(
    { fileId, signature, direct }: ContentAddress,
    request: ContentRequest,
  ): Promise<ContentResponse> {
    let missing: string | undefined
    for (let lookup = 1; lookup <= maxLookups; lookup++) {
      const content = await find(fileId, signature)
      if (content.blobKey === missing) throw lost(content)
      const { status, headers, body } = describeResponse(content, request)
      if (body === undefined) return { status, headers }
      if (request.isHead && (await content.hasBytes())) return { status, headers }
      missing = content.blobKey
      if (request.isHead) continue
      if (direct && content.addressOf) return sendToStore(content.addressOf, { status, headers })
      const stream = await content.open(body.range)
      if (stream !== undefined) return { status, headers, open: async () => stream }
    }
    throw new ApiError('ResourceLockedConflict', 'The content is being replaced all the time.')
  }

  return { respond }
}

function lost({ key }: ServedContent): ApiError {
  const advice = 'send it again, and "botstead check" names all that are lost'
  return new ApiError('ResourceGone', `The storage has lost the content of ${key}: ${advice}.`)
}

/** A content is public if both the file and the content have the policy, and the content is processed. */
function isPublic(served: ServedContentRow): boolean {
  const allowed = served.public_file === 1 && served.public_content === 1
  return allowed && (served.immediate === 1 || served.status !== 'indexing_pending')
}

/** Creates addresses at which the store itself serves a blob. */
function readAddress(
  direct: DirectAccess,
  blobKey: string,
): NonNullable<ServedContent['addressOf']> {
  return (options) => direct.readAddress(blobKey, { ...options, seconds: readLifetime })
}

/** A response that redirects its caller to the store for the body. */
function sendToStore(
  addressOf: NonNullable<ServedContent['addressOf']>,
  { status, headers }: Pick<ContentResponse, 'status' | 'headers'>,
): ContentResponse {
  return {
    status,
    headers,
    readAt: () =>
      addressOf({
        contentType: String(headers['content-type']),
        disposition: String(headers['content-disposition']),
        cacheControl: String(headers['cache-control']),
      }),
  }
}
