import { type Entry, fromBuffer, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { damaged, ExtractionError, passwordProtected, type Source } from '../document/extraction.js'

/** More parts than this are no document. */
const maxEntries = 20_000
const defaultUnpackedBytes = 256 * 1024 * 1024
/** Text is compressed to about a tenth; data that is compressed to less than this share is an attack. */
const minCompressedShare = 1 / 1000
/** Unpacked size below which a high compression ratio is harmless. */
const harmlessBytes = 4 * 1024 * 1024

/** The parts of a packed document, which are unpacked on demand. */
export interface Archive {
  /** Names of all parts, in the order of the archive. */
  readonly names: readonly string[]
  has(name: string): boolean
  /**
   * @throws ExtractionError if the part is missing, broken, encrypted or unpacks to too much
   */
  read(name: string): Promise<Uint8Array>
}

/**
 * Opens a ZIP archive in memory.
 *
 * @param what the format with its article, for the error message
 * @throws ExtractionError if it is not an archive or has too many parts
 */
export async function openArchive(source: Source, what: string): Promise<Archive> {
  const zip = await open(source.bytes, what)
  if (zip.entryCount > maxEntries) {
    throw tooLarge(
      `has ${zip.entryCount.toLocaleString('en')} parts; at most ${maxEntries.toLocaleString('en')} can be read`,
    )
  }
  const entries = await list(zip, what)
  requireApart([...entries.values()], what)
  const limit = source.maxUnpackedBytes ?? defaultUnpackedBytes
  // Files inside of a document share one limit: each may be as large as the document.
  const used = ((source.level ?? 0) > 0 ? source.inner : undefined) ?? { unpackedBytes: 0 }

  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    async read(name) {
      const entry = entries.get(name)
      if (entry === undefined) throw damaged(what, new Error(`the part ${name} is missing`))
      if (entry.isEncrypted()) throw passwordProtected(what)
      const size = entry.uncompressedSize
      // The stated size suffices: a part that unpacks to more than it states is an error.
      if (used.unpackedBytes + size > limit) {
        throw tooLarge(
          `unpacks to more than ${Math.floor(limit / 2 ** 20)} MiB, the most that can be read`,
          'BOTSTEAD_INDEXING_UNPACKED_BYTES',
        )
      }
      if (size > harmlessBytes && entry.compressedSize < size * minCompressedShare) {
        throw tooLarge(
          `holds a part that unpacks to more than ${1 / minCompressedShare} times its size`,
        )
      }
      used.unpackedBytes += size
      return await unpack(zip, entry).catch((error: unknown) => {
        throw damaged(what, error)
      })
    },
  }
}

function open(bytes: Uint8Array, what: string): Promise<ZipFile> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return new Promise((resolve, reject) => {
    // Names are decoded here: the library refuses those that begin with a slash, which matter on a disk only.
    const options = { lazyEntries: true, validateEntrySizes: true, decodeStrings: false }
    fromBuffer(buffer, options, (error, zip) => {
      if (error === null) resolve(zip)
      else reject(damaged(what, error))
    })
  })
}

function list(zip: ZipFile, what: string): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry
      const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false)
      // Of several parts with one name, the first: programs disagree on which one counts.
      if (!entries.has(name)) entries.set(name, entry)
      zip.readEntry()
    })
    zip.once('end', () => resolve(entries))
    zip.once('error', (error) => reject(damaged(what, error)))
    zip.readEntry()
  })
}

/** Bytes in front of the name of a part. */
const headerLength = 30

/** Refuses an archive whose parts share bytes: a few of them would unpack to many large parts. */
function requireApart(entries: readonly Entry[], what: string): void {
  let end = 0
  const inOrder = entries.toSorted(
    (a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader,
  )
  for (const { relativeOffsetOfLocalHeader: start, fileNameLength, compressedSize } of inOrder) {
    if (start < end) throw damaged(what, new Error('its parts overlap'))
    end = start + headerLength + fileNameLength + compressedSize
  }
}

function unpack(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const content = Buffer.allocUnsafe(entry.uncompressedSize)
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) return reject(error)
      let length = 0
      stream.on('data', (chunk: Buffer) => {
        length += chunk.copy(content, length)
      })
      stream.once('error', reject)
      stream.once('end', () => resolve(content.subarray(0, length)))
    })
  })
}

/** @param setting the one that raises the limit, if there is one */
function tooLarge(how: string, setting?: string): ExtractionError {
  const raise = setting === undefined ? '' : `, or raise ${setting}`
  return new ExtractionError(
    'too_large',
    `The document ${how}. Split it into several files, or remove what is not text, and upload it again${raise}.`,
  )
}
