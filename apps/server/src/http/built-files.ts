import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentType } from 'mime-types'
import { readyContent } from './ready-content.js'

type Respond = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Folder of those files of a build whose names change with their contents. */
export const assets = 'assets/'

/** The assets of a build by their path in it; each is read and compressed at its first use. */
export interface BuiltFiles {
  /** Responds with a file; undefined if there is none of that path. */
  find(path: string): Promise<Respond | undefined>
  /** The first path that matches; undefined if there is none. */
  match(pattern: RegExp): Promise<string | undefined>
}

/**
 * The assets of the build in a folder, which is read at the first use; after a failure the next use tries again.
 * @param headers of every response with one of them
 */
export function createBuiltFiles(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
): BuiltFiles {
  let files: Promise<Map<string, Respond>> | undefined
  const list = () => {
    files ??= listFiles(folder, headers).catch((error) => {
      files = undefined
      throw error
    })
    return files
  }
  return {
    find: async (path) => (await list()).get(path),
    match: async (pattern) => [...(await list()).keys()].find((path) => pattern.test(path)),
  }
}

async function listFiles(
  folder: string,
  headers: Readonly<Record<string, string>>,
): Promise<Map<string, Respond>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, Respond>()
  const names = new Set(entries.map(({ name }) => name))
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    if (!entry.isFile() || !name.startsWith(assets) || name.endsWith('.br')) continue
    const make = () => readFile(path)
    const makeBrotli = () => readFile(`${path}.br`)
    files.set(
      name,
      readyContent({
        contentType: contentType(entry.name) || 'application/octet-stream',
        make,
        ...(names.has(`${entry.name}.br`) && { makeBrotli }),
        caching: 'immutable',
        headers,
      }),
    )
  }
  return files
}
