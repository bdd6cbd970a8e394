import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { BackupLocation } from '../../../config/backup-settings.js'
import { BlobNotFoundError, type BlobStore } from '../../../platform/blobs/blob-store.js'
import { findStoredFile, openDiskBlobStore } from '../../../platform/blobs/disk.js'
import type { S3Address } from '../../../platform/blobs/s3-address.js'
import { hasErrorCode } from '../../../platform/disk/files.js'
import { BackupError, damagedBackup } from './errors.js'
import {
  formatVersion,
  type Manifest,
  maxManifestBytes,
  parseHeader,
  parseManifest,
  type TargetHeader,
} from './manifest.js'
import { readStoredManifest } from './manifest-thread.js'
import {
  createSealing,
  minPassphraseLength,
  type Sealing,
  sha256Of,
  storedPieceBytes,
  unwrapKey,
  wrapNewKey,
} from './sealing.js'

/** Key of the header among the manifests. */
const headerKey = 'botstead-backups'
/** Ids begin with the time, so that their order is that of the backups. */
const backupId = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/
const maxHeaderBytes = 64 * 1024

/** A location of backups that is open: its header was read, and its key is known. */
export interface BackupTarget {
  /** The location as people read it, without credentials. */
  readonly label: string
  /** Of the server whose backups are here. */
  readonly installation: string
  readonly sealing: Sealing
  readonly pieces: BlobStore
  /** Ids of the backups, oldest first. */
  listIds(): Promise<string[]>
  readManifest(id: string): Promise<Manifest>
  writeManifest(manifest: Manifest): Promise<void>
  removeManifest(id: string): Promise<void>
  /** Removes what interrupted writes left behind, if it is older than so many milliseconds. */
  sweep(idleMs: number): Promise<void>
}

/** The means to find the key of a target. */
export interface Unlocking {
  /** Undefined for a target that is not encrypted. */
  passphrase: string | undefined
}

/**
 * Opens a target that has backups, or is prepared for some.
 * @throws BackupError
 */
export async function openTarget(
  location: BackupLocation,
  { passphrase }: Unlocking,
): Promise<BackupTarget> {
  if (location.kind === 'folder') await requireFolder(location.folder)
  const stores = await openStores(location)
  const header = await readHeader(stores.manifests)
  if (header === undefined) throw noBackups(location.label)
  // Whoever can write there could replace encrypted backups by forged ones, which nothing else would show.
  if (passphrase !== undefined && header.encryption === undefined) {
    throw new BackupError(
      'passphrase',
      `The backups in ${location.label} are not encrypted, although there is a passphrase for them: anybody who can write there may have made them. If you stored them so, add --no-encryption.`,
    )
  }
  return await unlock(location, stores, header, passphrase)
}

/**
 * Opens a target for new backups of a server, and prepares an empty one.
 * @param options.passphrase undefined to store backups without encryption
 * @throws BackupError
 */
export async function prepareTarget(
  location: BackupLocation,
  { passphrase, installation }: Unlocking & { installation: string },
): Promise<BackupTarget> {
  if (passphrase !== undefined && passphrase.length < minPassphraseLength) {
    throw new BackupError(
      'passphrase',
      `The passphrase is shorter than ${minPassphraseLength} characters: choose a longer one.`,
    )
  }
  // Opening makes folders, which must not happen in those of others.
  if (location.kind === 'folder' && !(await isOpened(location.folder)))
    await requireUnoccupied(location)
  const stores = await openStores(location)
  const found = await readHeader(stores.manifests)
  if (found !== undefined) {
    if (found.installation !== installation) {
      throw new BackupError(
        'unusable',
        `${location.label} has the backups of another server: give this one a target of its own.`,
      )
    }
    if (passphrase === undefined && found.encryption !== undefined) throw needsPassphrase(location)
    if (passphrase !== undefined && found.encryption === undefined) {
      throw new BackupError(
        'unusable',
        `The backups in ${location.label} are not encrypted: choose another target, or go on without encryption.`,
      )
    }
    return await unlock(location, stores, found, passphrase)
  }
  await requireUnoccupied(location)
  const made = passphrase === undefined ? undefined : await wrapNewKey(passphrase)
  const header: TargetHeader = {
    form: formatVersion,
    installation,
    ...(made && { encryption: made.wrapped }),
  }
  await putBytes(stores.manifests, headerKey, Buffer.from(JSON.stringify(header)))
  return createTarget(location, stores, header, createSealing(made?.key))
}

interface Stores {
  manifests: BlobStore
  pieces: BlobStore
}

async function openStores(location: BackupLocation): Promise<Stores> {
  if (location.kind === 'folder') {
    return {
      manifests: await openDiskBlobStore(join(location.folder, 'backups')),
      pieces: await openDiskBlobStore(join(location.folder, 'contents')),
    }
  }
  const { openS3BlobStore } = await import('../../../platform/blobs/s3.js')
  const below = (part: string) =>
    openS3BlobStore({ ...location.address, prefix: `${location.address.prefix}${part}/` })
  return { manifests: await below('backups'), pieces: await below('contents') }
}

/** Whether a blob store has been opened where manifests are. */
async function isOpened(folder: string): Promise<boolean> {
  const facts = await stat(join(folder, 'backups', 'tmp')).catch(() => undefined)
  return facts?.isDirectory() === true
}

/** @throws BackupError when there is anything in a location that has no header */
async function requireUnoccupied(location: BackupLocation): Promise<void> {
  const found =
    location.kind === 'folder'
      ? await findInFolder(location.folder)
      : await findInBucket(location.address)
  if (found === undefined) return
  throw new BackupError(
    'occupied',
    `${location.label} contains data other than backups of this server (${found}): choose an empty ${location.kind === 'folder' ? 'folder' : 'prefix'} for them.`,
  )
}

async function findInFolder(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  })
  for (const name of names.sort()) {
    // Every disk of its own has it, for its user root alone.
    if (name === 'lost+found') continue
    // An interrupted preparation leaves both, without a file.
    if (name !== 'backups' && name !== 'contents') return name
    const file = await findStoredFile(join(folder, name))
    if (file !== undefined) return join(name, file)
  }
  return undefined
}

async function findInBucket(address: S3Address): Promise<string | undefined> {
  const { findS3Object } = await import('../../../platform/blobs/s3.js')
  return await findS3Object(address)
}

async function requireFolder(folder: string): Promise<void> {
  const facts = await stat(join(folder, 'backups')).catch(() => undefined)
  if (facts?.isDirectory() !== true) throw noBackups(folder)
}

function noBackups(label: string): BackupError {
  return new BackupError(
    'missing',
    `There are no backups in ${label}: name the folder or bucket that was given to "npx botstead backup".`,
  )
}

function needsPassphrase({ label }: BackupLocation): BackupError {
  return new BackupError(
    'passphrase',
    `The backups in ${label} are encrypted: give the passphrase with --passphrase-file or BOTSTEAD_BACKUP_PASSPHRASE_FILE.`,
  )
}

async function readHeader(manifests: BlobStore): Promise<TargetHeader | undefined> {
  const bytes = await readBytes(manifests, headerKey, maxHeaderBytes)
  return bytes && parseHeader(bytes.toString('utf8'))
}

async function unlock(
  location: BackupLocation,
  stores: Stores,
  header: TargetHeader,
  passphrase: string | undefined,
): Promise<BackupTarget> {
  const { encryption } = header
  if (encryption === undefined)
    return createTarget(location, stores, header, createSealing(undefined))
  if (passphrase === undefined) throw needsPassphrase(location)
  const key = await unwrapKey(passphrase, encryption)
  return createTarget(location, stores, header, createSealing(key))
}

function createTarget(
  { label }: BackupLocation,
  { manifests, pieces }: Stores,
  { installation }: TargetHeader,
  sealing: Sealing,
): BackupTarget {
  return {
    label,
    installation,
    sealing,
    pieces,

    async listIds() {
      const ids: string[] = []
      for await (const { key } of manifests.list()) if (backupId.test(key)) ids.push(key)
      return ids.sort()
    },

    async readManifest(id) {
      if (!backupId.test(id)) throw missing(id, label)
      const stored = await readBytes(manifests, id, maxManifestBytes + storedPieceBytes)
      if (stored === undefined) throw missing(id, label)
      return await readStoredManifest(id, await sealing.open(id, stored, maxManifestBytes))
    },

    async writeManifest(manifest) {
      const text = JSON.stringify(manifest)
      // A backup that could not be read again must fail when it is made.
      parseManifest(manifest.id, text)
      const bytes = Buffer.from(`${sha256Of(Buffer.from(text))}\n${text}`)
      await putBytes(manifests, manifest.id, await sealing.seal(manifest.id, bytes))
    },

    removeManifest: (id) => manifests.remove(id),

    async sweep(idleMs) {
      await manifests.sweepTemporary(idleMs)
      await pieces.sweepTemporary(idleMs)
    },
  }
}

function missing(id: string, label: string): BackupError {
  return new BackupError(
    'missing',
    `There is no backup ${id} in ${label}: "npx botstead backup list" shows the ids of those that exist.`,
  )
}

/** Stores bytes under a key, all or nothing. */
export async function putBytes(
  store: BlobStore,
  key: string,
  bytes: Buffer,
  signal?: AbortSignal,
): Promise<void> {
  const content = Readable.from([bytes], { objectMode: false })
  await store.put(key, content, { maxBytes: bytes.length, ...(signal && { signal }) })
}

/** The bytes under a key, undefined if there are none. @throws BackupError when there are more than expected */
export async function readBytes(
  store: BlobStore,
  key: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const content = await store.get(key).catch((error: unknown) => {
    if (error instanceof BlobNotFoundError) return undefined
    throw error
  })
  if (content === undefined) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > maxBytes)
      throw damagedBackup(`The object ${key} of the backup is larger than it may be.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
