import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@botstead/contract'
import type { Document } from './dataset.js'

/** Concurrent uploads. */
const concurrency = 8
const pollMs = 500
const prefix = 'eval/'

/** Uploads every document as a file of its own. */
export async function uploadAll(
  client: Client,
  documents: readonly Document[],
  onProgress: (done: number) => void,
): Promise<void> {
  const queue = documents.values()
  let done = 0
  const worker = async () => {
    for (const document of queue) {
      await uploadOne(client, document)
      done += 1
      onProgress(done)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

async function uploadOne(client: Client, document: Document): Promise<void> {
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
  return key.startsWith(prefix) ? decodeURIComponent(key.slice(prefix.length)) : key
}

/**
 * Waits until every file has been indexed.
 * @returns keys of the files that could not be indexed, with the reason
 */
export async function awaitIndexed(
  client: Client,
  signal: AbortSignal,
): Promise<{ key: string; reason: string }[]> {
  for (;;) {
    const files = await listAll(client)
    const isBusy = files.some(({ status }) => status === 'indexing_pending')
    if (!isBusy) {
      return files
        .filter(({ status }) => status === 'indexing_failed')
        .map(({ key, failedStatusReason }) => ({ key, reason: failedStatusReason ?? '' }))
    }
    await sleep(pollMs, undefined, { signal })
  }
}

async function listAll(client: Client) {
  const files: Awaited<ReturnType<Client['listFiles']>>['files'] = []
  let nextToken: string | undefined
  do {
    const page = await client.listFiles({ pageSize: 100, ...(nextToken && { nextToken }) })
    files.push(...page.files.filter(({ key }) => key.startsWith(prefix)))
    nextToken = page.meta.nextToken
  } while (nextToken !== undefined)
  return files
}
