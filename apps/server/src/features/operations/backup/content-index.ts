import { BackupError } from './errors.js'
import {
  type ContentEntry,
  damagedList,
  type EntryLine,
  entryLines,
  maxContentBytes,
  parseEntryLine,
} from './manifest.js'
import { type PieceWriter, readPiece } from './pieces.js'
import { pieceBytes } from './sealing.js'
import type { BackupTarget } from './target.js'

/** Bytes at which a piece of the index ends: so that adding contents leaves the pieces before unchanged. */
const indexPieceBytes = 1024 * 1024

/** Writes the list of the contents of a backup. */
export function createIndexWriter(writer: Pick<PieceWriter, 'write'>) {
  let lines: string[] = []
  let size = 0
  const names: string[] = []

  async function flush(): Promise<void> {
    if (size === 0) return
    names.push(await writer.write(Buffer.from(lines.join(''))))
    lines = []
    size = 0
  }

  return {
    /** Entries must be added in the order of their keys. */
    async add(entry: ContentEntry): Promise<void> {
      if (entry.size > maxContentBytes) {
        throw new BackupError(
          'unusable',
          `The content ${entry.key} has ${entry.size} bytes, more than a backup can contain: delete its file, and store it elsewhere.`,
        )
      }
      for (const line of entryLines(entry)) {
        if (size + line.length > pieceBytes) await flush()
        lines.push(line)
        size += line.length
        if (size >= indexPieceBytes) await flush()
      }
    },
    /** Returns the names of the pieces. */
    async end(): Promise<readonly string[]> {
      await flush()
      return names
    },
  }
}

/** The lines of one piece of an index. */
export async function readIndexPiece(
  target: Pick<BackupTarget, 'pieces' | 'sealing' | 'label'>,
  name: string,
): Promise<EntryLine[]> {
  const lines = (await readPiece(target, name)).toString('utf8').split('\n')
  return lines.filter((line) => line !== '').map(parseEntryLine)
}

/**
 * All contents of a backup, by key.
 * @throws BackupError when they are not in that order, or one does not have the pieces that its size needs
 */
export async function* readIndex(
  target: Pick<BackupTarget, 'pieces' | 'sealing' | 'label'>,
  index: readonly string[],
): AsyncGenerator<ContentEntry> {
  let last = ''
  let open: (ContentEntry & { pieces: string[] }) | undefined
  for (const name of index) {
    for (const { begun, pieces } of await readIndexPiece(target, name)) {
      // One content ends before the next begins.
      if ((begun === undefined) === (open === undefined)) throw damagedList()
      if (begun !== undefined) open = { ...begun, pieces: [...pieces] }
      // In place: a list with a line for each piece would be copied millions of times.
      else for (const piece of pieces) open?.pieces.push(piece)
      if (open === undefined) continue
      const needed = Math.ceil(open.size / pieceBytes)
      if (open.pieces.length > needed || open.key <= last) throw damagedList()
      if (open.pieces.length < needed) continue
      last = open.key
      yield open
      open = undefined
    }
  }
  if (open !== undefined) throw damagedList()
}
