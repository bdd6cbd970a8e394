import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@botstead/contract'
import { listFiles, type RemoteFile, withRetries } from '../files/remote.js'
import { measure, sendFile } from '../files/transfer.js'
import type { Document } from './dataset.js'

/** Concurrent uploads. */
const concurrency = 8
const pollMs = 500
const prefix = 'eval/'

/** Uploads every document as a file of its own. */
export async function uploadAll(
  client: Client,
  documents: readonly Document[],
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<void> {
  const queue = documents.values()
  let done = 0
  const worker = async () => {
    for (const document of queue) {
      await uploadOne(client, document, signal)
      done += 1
      onProgress(done)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

async function uploadOne(client: Client, document: Document, signal: AbortSignal): Promise<void> {
  if ('path' in document) {
    const file = await measure(document.path, signal)
    const description = { index: true, tags: {} }
    const send = () => sendFile({ client, key: keyOf(document), file, description, signal })
    await withRetries(signal, send)
    return
  }
  const { title, text } = document
  const content = title === '' ? text || ' ' : `# ${title}\n\n${text}`
  const { file } = await client.upsertFile({
    key: keyOf(document),
    size: Buffer.byteLength(content),
    index: true,
    contentType: title === '' ? 'text/plain' : 'text/markdown',
  })
  const response = await fetch(file.uploadUrl, { method: 'PUT', body: content })
  if (!response.ok)
    throw new Error(`The upload of ${file.key} failed with status ${response.status}.`)
}

/** The key of the file of a document. */
function keyOf({ id }: Document): string {
  return `${prefix}${encodeURIComponent(id)}`
}

/** The document of a key. */
export function documentOf(key: string): string {
  if (!isUploaded(key)) return key
  try {
    return decodeURIComponent(key.slice(prefix.length))
  } catch {
    // A file of somebody else, whose key has a plain per cent sign.
    return key
  }
}

/**
 * Waits until every file has been indexed.
 * @param isAsked whether a file is one of those that are searched, by its key
 * @returns keys of the files that could not be indexed, with the reason, and of all
 */
export async function awaitIndexed(
  client: Client,
  signal: AbortSignal,
  isAsked: (key: string) => boolean,
): Promise<{ failed: { key: string; reason: string }[]; keys: string[] }> {
  for (;;) {
    const files: RemoteFile[] = []
    for await (const file of listFiles(client, '', signal)) if (isAsked(file.key)) files.push(file)
    const isBusy = files.some(({ status }) => status === 'indexing_pending')
    if (!isBusy) {
      const failed = files
        .filter(({ status }) => status === 'indexing_failed')
        .map(({ key, failedStatusReason }) => ({ key, reason: failedStatusReason ?? '' }))
      return { failed, keys: files.map(({ key }) => key) }
    }
    await sleep(pollMs, undefined, { signal })
  }
}

/** Whether a key is that of an uploaded document. */
export function isUploaded(key: string): boolean {
  return key.startsWith(prefix)
}
