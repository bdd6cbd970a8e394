import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasErrorCode, syncFolder } from '../disk/files.js'
import type { Log } from '../telemetry/log.js'

export interface SecretOptions {
  /** The configured secret; without it one is kept in the data folder. */
  secret: string | undefined
  dataDir: string
  /** Other processes may serve the same database, and must then have the same secret. */
  shared: boolean
  /** Whether there is a database in the data folder, which was used with a secret. */
  hasData: boolean
  log: Log
}

/** Characters; a shorter secret comes from a truncated file. */
export const minSecretLength = 32

/**
 * The secret of this server, from which the key of every purpose is derived. The one in the data
 * folder gives the same keys when it is moved into the environment.
 */
export async function loadServerSecret(options: SecretOptions): Promise<Uint8Array> {
  if (options.secret !== undefined) return Buffer.from(options.secret)
  const path = join(options.dataDir, 'secret')
  if (options.shared) {
    options.log.warn(
      { path },
      'BOTSTEAD_SECRET is not set: processes on other machines would sign with other keys',
    )
  }
  let isNew = false
  const secret = await keepSecretFile(path, () => {
    isNew = true
    return randomBytes(32).toString('base64url')
  })
  if (isNew && options.hasData) {
    options.log.warn(
      { path },
      'there was no secret beside the database, and a new one was made: user keys and signed addresses are no longer valid, and stored secrets cannot be read; if the file was lost, stop the server and restore it from a backup',
    )
  }
  if (secret.length < minSecretLength) {
    throw new Error(
      `The secret in ${path} is damaged: restore the file, or delete it for a new one.`,
    )
  }
  return Buffer.from(secret)
}

/**
 * The key of one purpose. Keys reveal nothing about each other or about the secret.
 * @param purpose a fixed name such as `page-tokens`
 */
export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `botstead/${purpose}`, 32))
}

/** Identifies an installation in its object store and its backups: 64 hex digits. */
export function installationOf(secret: Uint8Array): string {
  return deriveKey(secret, 'installation').toString('hex')
}

/** Identifies an installation to anybody: 16 hex digits. */
export function instanceOf(secret: Uint8Array): string {
  return deriveKey(secret, 'instance').toString('hex').slice(0, 16)
}

/**
 * The content of a file that only its owner may read, made on first use. Processes that start
 * together all get the content of the one that was first.
 */
export async function keepSecretFile(path: string, make: () => string): Promise<string> {
  const existing = await readSecretFile(path)
  if (existing !== undefined) return existing
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  try {
    await writeDurably(draft, make())
    // Linking fails when the name exists and shows the whole content when it does not: a reader
    // never sees half a secret, and no later process replaces it.
    await link(draft, path)
    await syncFolder(folder)
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(path, 'utf8')).trim()
}

/** The content of such a file; undefined if it is not there. */
export async function readSecretFile(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Writes a file that only its owner may read, in place of what was there; readers see either whole. */
export async function replaceSecretFile(path: string, content: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  try {
    await writeDurably(draft, content)
    await rename(draft, path)
    await syncFolder(folder)
  } finally {
    await rm(draft, { force: true })
  }
}

async function writeDurably(path: string, content: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(`${content}\n`)
  await file.sync()
}
