import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the package of this server: the sources, the build and a bundle of it lie at different depths. */
const packageFolder = findPackage(dirname(fileURLToPath(import.meta.url)))

/**
 * The path of a file or folder that is part of the package of this server.
 * @param path relative to the folder of the package
 */
export function packageFile(path: string): string {
  return join(packageFolder, path)
}

function findPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('The files of the server are not in a package')
  return findPackage(parent)
}
