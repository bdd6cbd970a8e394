import { randomUUID, webcrypto } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/telemetry/log.js'
import type { CodeOwner } from '../bots/deployments/index.js'

/**
 * Code caches of V8 for deployed code, in files of the data folder: loading code with one takes half of the
 * processor time. A file may be lost: the next start without it writes it again.
 */
export interface CompiledCode {
  /** The file for code of an owner. @param code in UTF-8 */
  of(owner: CodeOwner, code: Uint8Array): Promise<CompiledFile>
}

export interface CompiledFile {
  /** Undefined if there is none, or if it is damaged. Never rejects. */
  find(): Promise<Buffer | undefined>
  /** Stores it; logs a failure. Never rejects. */
  keep(compiled: Buffer): Promise<void>
  /** Deletes it, because the code does not start with it. Never rejects. */
  drop(): Promise<void>
}

/** Maximum bytes of all files together; those that were used last stay. */
const maxBytes = 256 * 2 ** 20
/** Bytes at the beginning of a file: the digest of the rest, which V8 does not check. */
const digestBytes = 32

/** Makes the store; its folder is created with the first file. */
export function openCompiledCode(folder: string, log: Pick<Log, 'debug'>): CompiledCode {
  async function removeOldest(): Promise<void> {
    const names = await readdir(folder)
    const files = await Promise.all(
      names.map(async (name) => ({ path: join(folder, name), ...(await factsOf(folder, name)) })),
    )
    let bytes = 0
    for (const { path, size } of files.sort((a, b) => b.usedAt - a.usedAt)) {
      bytes += size
      if (bytes > maxBytes) await rm(path, { force: true })
    }
  }

  const fileAt = (path: string, owner: CodeOwner): CompiledFile => ({
    async find() {
      const bytes = await readFile(path).catch(() => undefined)
      if (bytes === undefined) return undefined
      const compiled = bytes.subarray(digestBytes)
      if (!(await digest(compiled)).equals(bytes.subarray(0, digestBytes))) return undefined
      const now = new Date()
      await utimes(path, now, now).catch(() => {})
      return compiled
    },

    async keep(compiled) {
      const draft = join(folder, `draft-${randomUUID()}`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, [await digest(compiled), compiled], { mode: 0o600 })
        await rename(draft, path)
        await removeOldest()
      } catch (err) {
        log.debug({ err, owner }, 'compiled code could not be kept')
        await rm(draft, { force: true }).catch(() => {})
      }
    },

    drop: () => rm(path, { force: true }).catch(() => {}),
  })

  return {
    async of(owner, code) {
      // Compiled code comes from a program, which could put anything into it: owners do not share it.
      const name = `${owner.type}:${owner.id}:${(await digest(code)).toString('hex')}`
      return fileAt(join(folder, (await digest(Buffer.from(name))).toString('hex')), owner)
    },
  }
}

async function factsOf(folder: string, name: string): Promise<{ size: number; usedAt: number }> {
  // Another process of the server may have removed it.
  const facts = await stat(join(folder, name)).catch(() => undefined)
  return { size: facts?.size ?? 0, usedAt: facts?.mtimeMs ?? 0 }
}

/** Computed in the thread pool: on the event loop, many megabytes would delay everything else. */
async function digest(content: Uint8Array): Promise<Buffer> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', content))
}
