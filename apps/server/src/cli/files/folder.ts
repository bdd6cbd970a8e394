import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** What was found below a folder; keys have `/` between their parts on every system. */
export interface FolderTree {
  files: { key: string; path: string }[]
  /** Keys of symbolic links and of what is neither file nor folder: not followed, not sent. */
  passedOver: string[]
}

/** Finds all files below a folder, in the order of their names. */
export async function readFolder(
  root: string,
  options: { hidden: boolean; prefix: string },
): Promise<FolderTree> {
  const tree: FolderTree = { files: [], passedOver: [] }
  async function enter(folder: string, prefix: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true })
    entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      if (entry.name.startsWith('.') && !options.hidden) continue
      const path = join(folder, entry.name)
      // Some systems take letters with accents apart; the same name shall be the same key.
      const key = `${prefix}${entry.name.normalize('NFC')}`
      if (entry.isDirectory()) await enter(path, `${key}/`)
      else if (entry.isFile()) tree.files.push({ key, path })
      else tree.passedOver.push(key)
    }
  }
  await enter(root, options.prefix)
  return tree
}
