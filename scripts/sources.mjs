import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A hash of what something is built from: all files of some folders, and some files, below a root. */
export async function hashOfSources(root, { folders, files }) {
  const lists = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    }),
  )
  const paths = [...lists.flat(), ...files.map((path) => join(root, path))].sort()
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path.slice(root.length)).update(await readFile(path))
  return hash.digest('hex')
}
