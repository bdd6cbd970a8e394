import type { DirectAccess } from '../../../platform/blobs/blob-store.js'
import type { ContentAnswer } from './content-answer.js'
import type { ServedContent } from './downloads.js'

/** How long a download may take to begin, in seconds. */
const lifetime = 15 * 60

/** Makes addresses at which the store itself serves a blob. */
export function readAddress(
  direct: DirectAccess,
  blobKey: string,
): NonNullable<ServedContent['addressOf']> {
  return (answer) => direct.readAddress(blobKey, { ...answer, seconds: lifetime })
}

/** An answer that sends its caller to the store for the body. */
export function sendToStore(
  addressOf: NonNullable<ServedContent['addressOf']>,
  { status, headers }: Pick<ContentAnswer, 'status' | 'headers'>,
): ContentAnswer {
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
