import { toApiError, tus } from '@botstead/contract'
import { fetchFromServer, serverUrl } from '../../../api/client.js'

/** Uploads by tus at the address that a file has for its content. */

/** The connection broke; the server keeps the bytes that it has received. */
export class BrokenConnectionError extends Error {
  override name = 'BrokenConnectionError'
}

/** The address below the address that this page came from, because the policy of the page permits no other. */
function here(uploadUrl: string): string {
  return serverUrl + uploadUrl.slice(uploadUrl.lastIndexOf('/uploads/'))
}

const version = { 'tus-resumable': tus.version }

/** Bytes that the server has; undefined if the address does not work any more. */
export async function offsetOf(
  uploadUrl: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const response = await fetchFromServer(here(uploadUrl), {
    method: 'HEAD',
    headers: version,
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : new BrokenConnectionError('The connection broke.')
  })
  if (response.status >= 500) throw new BrokenConnectionError('The server failed.')
  const offset = response.headers.get('upload-offset')
  return response.ok && offset !== null ? Number(offset) : undefined
}

/** Ends an upload; the server deletes the bytes that it has received. */
export async function terminate(uploadUrl: string): Promise<void> {
  await fetchFromServer(here(uploadUrl), { method: 'DELETE', headers: version })
}

interface Sending {
  uploadUrl: string
  content: Blob
  /** Bytes that the server has. */
  offset: number
  /** Called with the number of bytes of the content that have been sent. */
  onProgress: (sent: number) => void
  signal: AbortSignal
}

/**
 * Sends the rest of a content and returns the number of bytes that the server has then. Made with XMLHttpRequest, because
 * `fetch` does not report progress. Rejects with {@link BrokenConnectionError}, or with the refusal of the server.
 */
export async function sendRest({
  uploadUrl,
  content,
  offset,
  onProgress,
  signal,
}: Sending): Promise<number> {
  return await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PATCH', here(uploadUrl))
    request.setRequestHeader('tus-resumable', tus.version)
    request.setRequestHeader('upload-offset', String(offset))
    // The type of the body takes precedence over the header; an empty type keeps the header.
    request.setRequestHeader('content-type', tus.mediaType)
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(offset + loaded))
    request.addEventListener('load', () => {
      if (request.status === 204) resolve(Number(request.getResponseHeader('upload-offset')))
      else if (request.status >= 500) reject(new BrokenConnectionError('The server failed.'))
      else reject(toApiError(request.status, request.responseText))
    })
    request.addEventListener('error', () =>
      reject(new BrokenConnectionError('The connection broke.')),
    )
    request.addEventListener('abort', () => reject(signal.reason))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(content.slice(offset))
  })
}
