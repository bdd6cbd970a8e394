import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/**
 * Writes what is committed in a SQLite file to `target`, replacing it once the copy is complete and
 * on the disk. Other connections go on reading and writing. Answers `target`.
 */
export function copySqliteFile(file: string, target: string): string {
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  const source = new DatabaseSync(file, { timeout: 5000 })
  try {
    source.prepare('vacuum into ?').run(partial)
  } finally {
    source.close()
  }
  syncPath(partial)
  renameSync(partial, target)
  syncPath(dirname(target))
  return target
}

function syncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
