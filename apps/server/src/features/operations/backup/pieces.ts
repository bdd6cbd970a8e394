import { createHash } from 'node:crypto'
import type { DiskSet } from './disk-collections.js'
import { BackupError, damagedBackup } from './errors.js'
import type { StoredStream } from './manifest.js'
import { pieceBytes, sha256Of, storedPieceBytes } from './sealing.js'
import { type BackupTarget, putBytes, readBytes } from './target.js'

/** Stores pieces that a target does not have. */
export interface PieceWriter {
  /** Bytes that were added to the target so far. */
  readonly storedBytes: number
  /** Name of the piece with this SHA-256. */
  nameOf(sha256: string): string
  /** Whether the target has a piece. */
  has(name: string): boolean
  /** Stores one piece unless it is there. Returns its name. */
  write(bytes: Buffer): Promise<string>
  /** Stores a stream in pieces; a few pieces are in memory. */
  writeStream(content: AsyncIterable<Buffer>): Promise<StoredStream>
}

/** Pieces of one stream that are stored at a time. */
const piecesAhead = 3

/** @param present names of all pieces that the target has */
export function createPieceWriter(
  { pieces, sealing }: Pick<BackupTarget, 'pieces' | 'sealing'>,
  present: DiskSet,
  signal: AbortSignal,
): PieceWriter {
  let storedBytes = 0

  async function write(bytes: Buffer): Promise<string> {
    signal.throwIfAborted()
    const name = sealing.nameOf(sha256Of(bytes))
    if (present.has(name)) return name
    const sealed = await sealing.seal(name, bytes)
    await putBytes(pieces, name, sealed, signal)
    present.add(name)
    storedBytes += sealed.length
    return name
  }

  return {
    get storedBytes() {
      return storedBytes
    },
    nameOf: (sha256) => sealing.nameOf(sha256),
    has: (name) => present.has(name),
    write,
    async writeStream(content) {
      const hash = createHash('sha256')
      const names: string[] = []
      const writing: Promise<string>[] = []
      let bytes = 0
      try {
        for await (const piece of cut(content)) {
          hash.update(piece)
          bytes += piece.length
          const name = write(piece)
          // It is awaited below; until then a failure must not count as unhandled.
          name.catch(() => undefined)
          writing.push(name)
          if (writing.length >= piecesAhead) names.push((await writing.shift()) ?? '')
        }
        names.push(...(await Promise.all(writing)))
      } finally {
        await Promise.allSettled(writing)
      }
      return { bytes, sha256: hash.digest('hex'), pieces: names }
    },
  }
}

/** Joins and cuts chunks to pieces, all full but the last. */
async function* cut(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let size = 0
  for await (let chunk of content) {
    while (size + chunk.length >= pieceBytes) {
      const taken = pieceBytes - size
      yield Buffer.concat([...chunks, chunk.subarray(0, taken)])
      chunk = chunk.subarray(taken)
      chunks = []
      size = 0
    }
    if (chunk.length === 0) continue
    chunks.push(chunk)
    size += chunk.length
  }
  if (size > 0) yield Buffer.concat(chunks)
}

/** @throws BackupError `missing` or `damaged` */
export async function readPiece(
  { pieces, sealing, label }: Pick<BackupTarget, 'pieces' | 'sealing' | 'label'>,
  name: string,
): Promise<Buffer> {
  const stored = await readBytes(pieces, name, storedPieceBytes)
  if (stored === undefined) {
    throw new BackupError(
      'missing',
      `The piece ${name} of the backup is missing in ${label}. The next backup stores it again if the server still has what is in it.`,
    )
  }
  const damaged = (cause?: unknown) =>
    new BackupError(
      'damaged',
      `The piece ${name} of the backup is damaged. Delete that file in ${label}: the next backup stores it again if the server still has what is in it, and until then keeps the damaged one.`,
      { cause },
    )
  const bytes = await sealing.open(name, stored, pieceBytes).catch((cause: unknown) => {
    throw damaged(cause)
  })
  if (sealing.nameOf(sha256Of(bytes)) === name) return bytes
  throw damaged()
}

/**
 * The bytes of a stored stream, a piece at a time.
 * @throws BackupError when a piece is missing or damaged, or the whole is not what was stored
 */
export async function* readStream(
  target: Pick<BackupTarget, 'pieces' | 'sealing' | 'label'>,
  { pieces, bytes, sha256 }: StoredStream,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let size = 0
  for (const name of pieces) {
    signal.throwIfAborted()
    const piece = await readPiece(target, name)
    hash.update(piece)
    size += piece.length
    yield piece
  }
  if (size === bytes && hash.digest('hex') === sha256) return
  throw damagedBackup('The pieces of the backup do not add up to what was stored.')
}
