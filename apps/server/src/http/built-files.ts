import { readdir, readFile } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentType } from 'mime-types'
import { hasErrorCode } from '../platform/disk/files.js'
import { type ReadyContentOptions, readyContent } from './ready-content.js'

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
 * The assets of the build in a folder, which is read at the first use; after a failure the next use tries again. Those
 * that are there only as compressed with brotli (`.br`) have the name without it.
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
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).replace(/\.br$/, '')
    const name = relative(folder, path).split(sep).join('/')
    if (!entry.isFile() || !name.startsWith(assets) || files.has(name)) continue
    files.set(
      name,
      readyContent({
        contentType: contentType(basename(path)) || 'application/octet-stream',
        ...builtFile(() => path),
        caching: 'immutable',
        headers,
      }),
    )
  }
  return files
}

const unpack = promisify(brotliDecompress)

/**
 * A file of a build, which may be there as it is, as compressed with brotli (then its name ends with `.br`), or both. The
 * package that is installed has it compressed only.
 * @param findPath of the file without `.br`, at its first use
 */
export function builtFile(
  findPath: () => string,
): Pick<ReadyContentOptions, 'make' | 'makeBrotli'> {
  const read = (suffix: string) =>
    readFile(`${findPath()}${suffix}`).catch((error) => {
      if (hasErrorCode(error, 'ENOENT')) return undefined
      throw error
    })
  const makeBrotli = () => read('.br')
  return {
    make: async () => {
      const plain = await read('')
      if (plain !== undefined) return plain
      const compressed = await makeBrotli()
      if (compressed === undefined) throw new Error(`The build has no file ${findPath()}.`)
      return unpack(compressed)
    },
    makeBrotli,
  }
}
