import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Reads something of all files and folders below a folder in which a server is at work, by their path in it.
 * Files that are removed before they are read are left out: a list of names is old as soon as there is one.
 */
export async function readBelow<Fact>(
  folder: string,
  read: (path: string, isFile: boolean) => Promise<Fact>,
): Promise<Map<string, Fact>> {
  const facts = new Map<string, Fact>()
  const visit = async (current: string) => {
    const entries = await unlessGone(readdir(current, { withFileTypes: true }))
    for (const entry of entries ?? []) {
      const path = join(current, entry.name)
      const fact = await unlessGone(read(path, entry.isFile()))
      if (fact !== undefined) facts.set(relative(folder, path), fact)
      if (entry.isDirectory()) await visit(path)
    }
  }
  await visit(folder)
  return facts
}

async function unlessGone<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
