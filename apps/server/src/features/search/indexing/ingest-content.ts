import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ExtractionError } from '@botstead/documents'
import type { WorkerContent } from './ingest-task.js'

/**
 * The content of a file. A path is the cheapest. A stream, such as of a blob on another machine, goes
 * through a temporary file, so that no content is ever whole in the memory of the server.
 */
export type Content = WorkerContent | { stream: Readable }

/**
 * Runs work on a content that a worker can open.
 *
 * @param maximumBytes size at which a stream is given up
 * @throws ExtractionError if the stream is longer
 */
export async function withWorkerContent<T>(
  content: Content,
  options: { maximumBytes: number; signal: AbortSignal | undefined },
  work: (content: WorkerContent) => Promise<T>,
): Promise<T> {
  if (!('stream' in content)) return await work(content)
  let folder: string | undefined
  try {
    folder = await mkdtemp(join(tmpdir(), 'botstead-index-'))
    const path = join(folder, 'content')
    const { signal } = options
    const bounded = (source: AsyncIterable<unknown>) => bound(source, options.maximumBytes)
    await pipeline(content.stream, bounded, createWriteStream(path), { signal })
    return await work({ path })
  } finally {
    content.stream.destroy()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

async function* bound(source: AsyncIterable<unknown>, maximumBytes: number) {
  let size = 0
  for await (const chunk of source) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('A content is made of bytes')
    size += chunk.byteLength
    if (size > maximumBytes) {
      throw new ExtractionError(
        'too_large',
        `The file has more than ${maximumBytes} bytes, which is the most that can be indexed. Split it into several files.`,
      )
    }
    yield chunk
  }
}

/**
 * A content that the storage of the server has lost or changed.
 *
 * @param what became of it
 */
export function lostContent(what: string): ExtractionError {
  return new ExtractionError(
    'lost',
    `${what}: the storage of the server lost it. Upload the file again. ` +
      'The operator of the server can find all such files with "botstead check --contents".',
  )
}
