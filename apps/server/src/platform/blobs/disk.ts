import { createHash, randomUUID } from 'node:crypto'
import { readFile as readFileWithCallback } from 'node:fs'
import {
  access,
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { findFile, hasErrorCode, syncFolder } from '../disk/files.js'
import {
  type BlobFacts,
  BlobNotFoundError,
  BlobRangeError,
  type BlobStore,
  BlobStoreFullError,
  type ByteRange,
  checkBlobKey,
  isBlobKey,
  type PutOptions,
  removeEach,
  requireSize,
  type StoredBlob,
} from './blob-store.js'
import { readContent } from './read-content.js'

/** The `readFile` of `node:fs/promises` makes a `FileHandle`, which takes longer than reading a small file. */
const readFile = promisify(readFileWithCallback)

/**
 * Bytes per read of a download. Each read is a turn of the event loop and a trip to the thread pool, which take longer
 * than copying the default of 64 KiB, but a download holds up to two of them while its client does not read.
 */
const readSize = { min: 64 * 1024, max: 512 * 1024 }
/** Bytes per read of all downloads together; those that are opened when there are many read less at once. */
const readBudget = 32 * 1024 * 1024
/** Bytes gathered for one write. While they are written, the next are received and hashed. */
const writeSize = 512 * 1024

/** A file below the folder of a blob store that is no leftover of an interrupted put; undefined if there is none. */
export function findStoredFile(root: string): Promise<string | undefined> {
  return findFile(root, (path) => /^tmp[/\\]/.test(path))
}

/**
 * Opens the blobs of a folder, which is made if it is not there. Contents are spread over 256
 * subfolders by a hash of the key; `tmp` holds what is being written.
 */
export async function openDiskBlobStore(root: string): Promise<BlobStore> {
  const draftFolder = join(root, 'tmp')
  await mkdir(draftFolder, { recursive: true, mode: 0o700 })
  const drafts = new Set<string>()
  const madeFolders = new Set<string>()
  let openDownloads = 0

  function locate(key: string): { folder: string; path: string } {
    checkBlobKey(key)
    const folder = join(root, createHash('sha256').update(key).digest('hex').slice(0, 2))
    return { folder, path: join(folder, key) }
  }

  async function ensureFolder(folder: string): Promise<void> {
    if (madeFolders.has(folder)) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await syncFolder(root)
    madeFolders.add(folder)
  }

  async function writeDraft(path: string, content: Readable, options: PutOptions) {
    await using file = await open(path, 'wx', 0o600)
    const stored = await receive(content, file, options)
    await file.sync()
    return stored
  }

  async function remove(key: string): Promise<void> {
    await rm(locate(key).path, { force: true })
  }

  return {
    async put(key, content, options = {}) {
      const { folder, path } = locate(key)
      const draft = randomUUID()
      const draftPath = join(draftFolder, draft)
      drafts.add(draft)
      // The stream may fail before anything reads it; the reading below reports that.
      content.on('error', ignore)
      try {
        const stored = await writeDraft(draftPath, content, options)
        await ensureFolder(folder)
        options.signal?.throwIfAborted()
        await rename(draftPath, path)
        await syncFolder(folder)
        return stored
      } catch (error) {
        // The sweep removes a draft that cannot be removed now; the first error is thrown.
        await rm(draftPath, { force: true }).catch(ignore)
        throw explain(error, root)
      } finally {
        content.off('error', ignore)
        drafts.delete(draft)
      }
    },

    async get(key, range) {
      const { path } = locate(key)
      const file = await openBlob(path, key)
      try {
        if (range) checkRange(range, (await file.stat()).size)
        const share = Math.max(readSize.min, Math.floor(readBudget / (openDownloads + 1)))
        const highWaterMark = Math.min(readSize.max, share)
        const content = file.createReadStream({ ...range, highWaterMark })
        openDownloads += 1
        content.once('close', () => {
          openDownloads -= 1
        })
        return content
      } catch (error) {
        await file.close()
        throw error
      }
    },

    async read(key, size) {
      const bytes = await readBlob(locate(key).path, key)
      requireSize(bytes, size)
      return bytes
    },

    async head(key) {
      return factsOf(locate(key).path)
    },

    remove,

    removeAll: (keys) => removeEach(keys, remove),

    async *list() {
      for (const folder of await readdir(root)) {
        if (!/^[0-9a-f]{2}$/.test(folder)) continue
        for (const key of await readdir(join(root, folder))) {
          // A person may have put a file there; what is not in its place could not be read or removed.
          if (!isBlobKey(key) || locate(key).folder !== join(root, folder)) continue
          const facts = await factsOf(join(root, folder, key))
          if (facts) yield { key, ...facts }
        }
      }
    },

    async sweepTemporary(idleMs) {
      // The file system records the time of writes, so the system's clock is the one to compare with.
      const before = Date.now() - idleMs
      let removed = 0
      for (const draft of await readdir(draftFolder)) {
        if (drafts.has(draft)) continue
        const facts = await factsOf(join(draftFolder, draft))
        if (!facts || facts.storedAt > before) continue
        await rm(join(draftFolder, draft), { force: true })
        removed += 1
      }
      return removed
    },

    localPath: (key) => locate(key).path,

    check: () => access(draftFolder, constants.W_OK),
  }
}

/** Opening a pipe would wait in the thread pool for its other end, for ever: others may write where backups are. */
const forReading = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

async function openBlob(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path, forReading)
  } catch (error) {
    throw explainMissing(error, key)
  }
}

async function readBlob(path: string, key: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw explainMissing(error, key)
  }
}

function explainMissing(error: unknown, key: string): unknown {
  if (!hasErrorCode(error, 'ENOENT')) return error
  return new BlobNotFoundError(`There is no blob ${key}.`, { cause: error })
}

function checkRange({ start, end }: ByteRange, size: number): void {
  if (start < 0 || end < start || end >= size) {
    throw new BlobRangeError(`Bytes ${start} to ${end} are not inside a blob of ${size}.`)
  }
}

async function factsOf(path: string): Promise<BlobFacts | undefined> {
  try {
    const { size, mtimeMs } = await stat(path)
    return { size, storedAt: Math.floor(mtimeMs) }
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function ignore(): void {}

function explain(error: unknown, root: string): unknown {
  if (!hasErrorCode(error, 'ENOSPC', 'EDQUOT')) return error
  return new BlobStoreFullError(`The disk of ${root} is full: make room there.`, { cause: error })
}

/**
 * Writes a stream to the end of a file. At most two write sizes are in memory.
 */
async function receive(
  content: Readable,
  file: FileHandle,
  options: PutOptions,
): Promise<StoredBlob> {
  let batch: Uint8Array[] = []
  let batchSize = 0
  let writing = Promise.resolve()

  async function flush(): Promise<void> {
    await writing
    writing = writeAll(file, batch)
    // It is awaited with the next batch; until then a failure must not count as unhandled.
    writing.catch(() => undefined)
    batch = []
    batchSize = 0
  }

  const stored = await readContent(content, options, (chunk) => {
    batch.push(chunk)
    batchSize += chunk.length
    return batchSize >= writeSize ? flush() : undefined
  })
  await flush()
  await writing
  return stored
}

/** A short write is not an error to the system: writing the rest again reports what is wrong. */
async function writeAll(file: FileHandle, chunks: Uint8Array[]): Promise<void> {
  let left = chunks
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left)
    left = skip(left, bytesWritten)
  }
}

function skip(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let rest = bytes
  for (const [index, chunk] of chunks.entries()) {
    if (rest < chunk.length) return [chunk.subarray(rest), ...chunks.slice(index + 1)]
    rest -= chunk.length
  }
  return []
}
