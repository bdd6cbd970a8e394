import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { deriveKey } from '../../../platform/security/secrets.js'
import { BackupError, damagedBackup } from './errors.js'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** Bytes of one piece before it is compressed. */
export const pieceBytes = 4 * 1024 * 1024
const ivBytes = 12
const tagBytes = 16
/** Maximum size of a stored piece in bytes: the piece, its flags, and the overhead of encryption. */
export const storedPieceBytes = pieceBytes + 1 + ivBytes + tagBytes
/** Bytes that show whether a piece can be compressed. */
const sampleBytes = 64 * 1024
const deflated = 1
const encrypted = 2
/** Minimum length of a passphrase in characters: anybody who has the backup may try without end. */
export const minPassphraseLength = 12

/** The stored form of the key of a target: encrypted under a key that scrypt derives from the passphrase. */
export interface WrappedKey {
  kdf: 'scrypt'
  N: number
  r: number
  p: number
  /** Base64, as `key`. */
  salt: string
  /** IV, tag and the encrypted key. */
  key: string
}

/** Names, compresses and encrypts the pieces of a target. */
export interface Sealing {
  readonly isEncrypted: boolean
  /** Name of the piece with this SHA-256 in hex. Without the key, it does not tell what is in the piece. */
  nameOf(sha256: string): string
  seal(name: string, bytes: Buffer): Promise<Buffer>
  /**
   * @param maxBytes that the result may have
   * @throws BackupError `damaged` when it is not what was sealed under that name
   */
  open(name: string, stored: Buffer, maxBytes: number): Promise<Buffer>
}

/** Memory of 64 MiB and a quarter of a second for each try at a passphrase. */
const cost = { N: 2 ** 16, r: 8, p: 1 }

/** Makes the key of a new target, and keeps it under a passphrase. */
export async function wrapNewKey(
  passphrase: string,
): Promise<{ wrapped: WrappedKey; key: Buffer }> {
  const key = randomBytes(32)
  const salt = randomBytes(16)
  const sealed = encrypt(await keyOf(passphrase, salt, cost), key, 'key')
  const wrapped: WrappedKey = {
    kdf: 'scrypt',
    ...cost,
    salt: salt.toString('base64'),
    key: sealed.toString('base64'),
  }
  return { wrapped, key }
}

/** @throws BackupError `passphrase` when it is another one */
export async function unwrapKey(passphrase: string, wrapped: WrappedKey): Promise<Buffer> {
  const { N, r, p } = wrapped
  const key = await keyOf(passphrase, Buffer.from(wrapped.salt, 'base64'), { N, r, p })
  try {
    return decrypt(key, Buffer.from(wrapped.key, 'base64'), 'key')
  } catch (cause) {
    throw new BackupError(
      'passphrase',
      'The passphrase does not open these backups: give the one that the first backup there was made with.',
      { cause },
    )
  }
}

async function keyOf(passphrase: string, salt: Buffer, given: typeof cost): Promise<Buffer> {
  return await derive(passphrase, salt, 32, { ...given, maxmem: 256 * given.N * given.r })
}

/** @param key of the target; undefined for one that is not encrypted */
export function createSealing(key: Buffer | undefined): Sealing {
  const keys = key && {
    names: deriveKey(key, 'backup-names'),
    pieces: deriveKey(key, 'backup-pieces'),
  }
  return {
    isEncrypted: keys !== undefined,
    nameOf: (sha256) =>
      keys === undefined ? sha256 : createHmac('sha256', keys.names).update(sha256).digest('hex'),

    async seal(name, bytes) {
      const small = await compress(bytes)
      const isSmaller = small !== undefined
      const content = small ?? bytes
      const flags = (isSmaller ? deflated : 0) | (keys === undefined ? 0 : encrypted)
      const sealed = keys === undefined ? content : encrypt(keys.pieces, content, `${flags}${name}`)
      return Buffer.concat([Buffer.of(flags), sealed])
    },

    async open(name, stored, maxBytes) {
      try {
        const flags = stored[0] ?? 0
        if ((flags & encrypted) !== (keys === undefined ? 0 : encrypted)) throw new Error('flags')
        const rest = stored.subarray(1)
        const content = keys === undefined ? rest : decrypt(keys.pieces, rest, `${flags}${name}`)
        if ((flags & deflated) === 0) return content
        return await inflate(content, { maxOutputLength: maxBytes })
      } catch (cause) {
        throw damagedBackup(`The object ${name} of the backup is damaged.`, { cause })
      }
    },
  }
}

/** Compresses bytes, undefined where that is not worth it: most large files are compressed already. */
async function compress(bytes: Buffer): Promise<Buffer | undefined> {
  const sample = bytes.subarray(0, sampleBytes)
  const isWorthIt = (small: Buffer, of: Buffer) => small.length < of.length * 0.95
  if (!isWorthIt(await deflate(sample, { level: 1 }), sample)) return undefined
  const small = await deflate(bytes, { level: 1 })
  return isWorthIt(small, bytes) ? small : undefined
}

/** SHA-256 in hex. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function encrypt(key: Buffer, bytes: Uint8Array, bound: string): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound))
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

function decrypt(key: Buffer, sealed: Buffer, bound: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(bound)).setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()])
}
