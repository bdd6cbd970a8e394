import { deriveKey } from '../platform/security/secrets.js'

/** The keys of this server, one per purpose, all from its one secret. */
export interface Keys {
  pageTokens: Buffer
  fileAddresses: Buffer
  /** Seals what lies in the database and must not be readable there. */
  sealing: Buffer
  /** Tells this installation from others where they could meet, such as in an object store. */
  installation: Buffer
  /** HS256 secret of user keys in shared mode. */
  userKeys: Uint8Array
}

export function deriveKeys(secret: Uint8Array, chatSecret: string | undefined): Keys {
  return {
    pageTokens: deriveKey(secret, 'page-tokens'),
    fileAddresses: deriveKey(secret, 'file-addresses'),
    sealing: deriveKey(secret, 'sealing'),
    installation: deriveKey(secret, 'installation'),
    userKeys: chatSecret === undefined ? deriveKey(secret, 'user-keys') : Buffer.from(chatSecret),
  }
}
