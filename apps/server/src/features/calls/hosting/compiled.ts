import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../../platform/telemetry/log.js'
import type { CodeOwner } from '../../bots/deployments/index.js'

/**
 * Deployed code as Node has compiled it, in files of the data folder: a start with it takes half of the
 * processor time. It can be lost: whatever is missing is made again.
 */
export interface CompiledCode {
  /** Undefined if there is none, or if it is damaged. Never rejects. */
  find(owner: CodeOwner, code: string): Promise<Buffer | undefined>
  /** Never rejects. */
  keep(owner: CodeOwner, code: string, compiled: Buffer): Promise<void>
  /** For code that does not start with it. Never rejects. */
  drop(owner: CodeOwner, code: string): Promise<void>
}

/** Most bytes of all files together; those that were used last stay. */
const mostBytes = 256 * 2 ** 20
/** Bytes at the beginning of a file: the digest of the rest, which V8 does not check. */
const digestBytes = 32

export function openCompiledCode(folder: string, log: Pick<Log, 'debug'>): CompiledCode {
  // Programs of an owner make it, and could give another owner anything: each owner has its own.
  const pathOf = ({ type, id }: CodeOwner, code: string) =>
    join(folder, digest(`${type}:${id}:${code}`).toString('hex'))

  async function removeOldest(): Promise<void> {
    const names = await readdir(folder)
    const files = await Promise.all(
      names.map(async (name) => ({ path: join(folder, name), ...(await factsOf(folder, name)) })),
    )
    let bytes = 0
    for (const { path, size } of files.sort((a, b) => b.usedAt - a.usedAt)) {
      bytes += size
      if (bytes > mostBytes) await rm(path, { force: true })
    }
  }

  return {
    async find(owner, code) {
      const path = pathOf(owner, code)
      const bytes = await readFile(path).catch(() => undefined)
      if (bytes === undefined) return undefined
      const compiled = bytes.subarray(digestBytes)
      if (!digest(compiled).equals(bytes.subarray(0, digestBytes))) return undefined
      const now = new Date()
      await utimes(path, now, now).catch(() => {})
      return compiled
    },

    async keep(owner, code, compiled) {
      const draft = join(folder, `draft-${randomUUID()}`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, Buffer.concat([digest(compiled), compiled]), { mode: 0o600 })
        await rename(draft, pathOf(owner, code))
        await removeOldest()
      } catch (err) {
        log.debug({ err, owner }, 'compiled code could not be kept')
        await rm(draft, { force: true }).catch(() => {})
      }
    },

    drop: (owner, code) => rm(pathOf(owner, code), { force: true }).catch(() => {}),
  }
}

async function factsOf(folder: string, name: string): Promise<{ size: number; usedAt: number }> {
  // Another process of the server may have removed it.
  const facts = await stat(join(folder, name)).catch(() => undefined)
  return { size: facts?.size ?? 0, usedAt: facts?.mtimeMs ?? 0 }
}

function digest(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}
