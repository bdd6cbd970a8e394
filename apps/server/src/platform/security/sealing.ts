import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Keeps text readable only to this server: what lies in the database alone is useless. */
export interface Sealer {
  seal(text: string): string
  /** Throws when the text was not sealed under this key or was changed since. */
  open(sealed: string): string
}

const ivBytes = 12
const tagBytes = 16

/** AES-256-GCM under a key of 32 bytes; iv, tag and text in one base64url string. */
export function createSealer(key: Uint8Array): Sealer {
  return {
    seal: (text) => {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      const text = decipher.update(bytes.subarray(ivBytes + tagBytes))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    },
  }
}
