import { BackupError } from './errors.js'
import { type ContentEntry, entryLines, parseEntry } from './manifest.js'
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
    /** Entries come by key. */
    async add(entry: ContentEntry): Promise<void> {
      const line = entryLines(entry)
      if (line.length > pieceBytes) {
        throw new BackupError(
          'unusable',
          `The content ${entry.key} has ${entry.size} bytes, more than a backup takes.`,
        )
      }
      if (size + line.length > pieceBytes) await flush()
      lines.push(line)
      size += line.length
      if (size >= indexPieceBytes) await flush()
    },
    /** Returns the names of the pieces. */
    async end(): Promise<readonly string[]> {
      await flush()
      return names
    },
  }
}

/** The contents that one piece of an index lists. */
export async function readIndexPiece(
  target: Pick<BackupTarget, 'pieces' | 'sealing' | 'label'>,
  name: string,
): Promise<ContentEntry[]> {
  const lines = (await readPiece(target, name)).toString('utf8').split('\n')
  return lines.filter((line) => line !== '').map(parseEntry)
}

/** All contents of a backup, by key. @throws BackupError when they are not in that order */
export async function* readIndex(
  target: Pick<BackupTarget, 'pieces' | 'sealing' | 'label'>,
  index: readonly string[],
): AsyncGenerator<ContentEntry> {
  let last = ''
  for (const name of index) {
    for (const entry of await readIndexPiece(target, name)) {
      if (entry.key <= last) {
        throw new BackupError('damaged', 'The list of contents of the backup is damaged.')
      }
      last = entry.key
      yield entry
    }
  }
}
