import type { Addresses } from '../../domain/addresses.js'
import type { Clock } from '../../platform/clock.js'
import { createLruCache } from '../../platform/lru-cache.js'
import type { Signer, Verified } from '../../platform/security/signing.js'

/** Validity of the address of a private content, in milliseconds. */
const contentAddressLifetime = 60 * 60 * 1000
/** Validity of an upload address, in milliseconds; afterwards, a pending upload has failed. */
export const uploadAddressLifetime = 24 * 60 * 60 * 1000

/** The generation of a file that an upload address refers to. */
export interface UploadTarget {
  fileId: string
  generation: number
}

/** Creates and verifies the addresses that carry their own permission. */
export interface FileAddresses {
  /** The address to which the content is sent. Valid for {@link uploadAddressLifetime}. */
  upload(target: UploadTarget): string
  /** The address with this token, whose validity does not change. */
  uploadWith(token: string): string
  /** The address at which anyone reads the content of a public file. */
  publicContent(fileId: string): string
  /** The address at which the content can be read without further credentials, for an hour. */
  privateContent(fileId: string): string
  /** The target of an upload address, or the reason for its rejection. */
  readUpload(token: string): UploadTarget | 'invalid' | 'expired'
  /** Whether the signature is for this file and still valid. */
  isSigned(fileId: string, signature: string): boolean
}

interface FileAddressesDeps {
  addresses: Addresses
  clock: Clock
  /** Signs with a key that serves no other purpose. */
  signer: Signer
}

/** First part of the signed text, so that an address of one kind is not valid as another. */
const uploadPurpose = 'upload'
const contentPurpose = 'content'

/** Signatures that are kept once they were found valid: pages load the same contents again and again. */
const maxKnown = 1000

/** Makes the signer and verifier of these addresses, below the public address of the server. */
export function createFileAddresses(deps: FileAddressesDeps): FileAddresses {
  const { addresses, clock, signer } = deps
  const knownSignatures = createLruCache<string, { fileId: string; expiresAt: number }>(maxKnown)
  const content = (fileId: string) => `${addresses.base()}/content/${fileId}`
  return {
    upload: ({ fileId, generation }) => {
      const expires = clock.now() + uploadAddressLifetime
      const token = signer.sign(`${uploadPurpose}.${fileId}.${generation}`, expires)
      return `${addresses.base()}/uploads/${token}`
    },
    uploadWith: (token) => `${addresses.base()}/uploads/${token}`,
    publicContent: content,
    privateContent: (fileId) => {
      const expires = clock.now() + contentAddressLifetime
      const signature = signer.sign(`${contentPurpose}.${fileId}`, expires)
      return `${content(fileId)}?signature=${signature}`
    },
    readUpload: (token) => targetOf(signer.verify(token)),
    isSigned: (fileId, signature) => {
      const known = knownSignatures.get(signature)
      if (known !== undefined) return known.fileId === fileId && known.expiresAt > clock.now()
      const verified = signer.verify(signature)
      if (!verified.ok || verified.value !== `${contentPurpose}.${fileId}`) return false
      knownSignatures.set(signature, { fileId, expiresAt: verified.expiresAt })
      return true
    },
  }
}

function targetOf(verified: Verified): UploadTarget | 'invalid' | 'expired' {
  if (!verified.ok) return verified.reason
  const [purpose, fileId, generation] = verified.value.split('.')
  if (purpose !== uploadPurpose || fileId === undefined) return 'invalid'
  return { fileId, generation: Number(generation) }
}
