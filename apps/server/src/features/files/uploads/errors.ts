import { ApiError } from '@botstead/contract'
import { BlobStoreFullError } from '../../../platform/blobs/blob-store.js'

export function brokenOff(cause: unknown, advice: string): ApiError {
  return new ApiError('InvalidPayload', `The content broke off: ${advice}.`, { cause })
}

export function wrongSize(declared: number, sent: number): ApiError {
  if (sent > declared) return tooLarge(declared)
  return new ApiError(
    'InvalidPayload',
    `The content is smaller than declared: ${sent} of ${declared} bytes came.`,
  )
}

export function tooLarge(declared: number): ApiError {
  return new ApiError(
    'LimitExceeded',
    `The content is larger than declared: at most ${declared} bytes were to come.`,
  )
}

/** What the caller hears of a failure of the blob store. */
export function toUploadError(error: unknown): unknown {
  if (!(error instanceof BlobStoreFullError)) return error
  return new ApiError(
    'Internal',
    'The server has no room left for this content. Nothing of it was kept: send it again once there is room.',
    { status: 507, cause: error },
  )
}
