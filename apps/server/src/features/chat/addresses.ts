import type { ChatAddress } from '../../domain/actor.js'
import type { Authenticator } from '../../domain/authenticator.js'
import { notFound } from '../../domain/refusals.js'
import { after } from '../../platform/awaitable.js'
import type { Clock } from '../../platform/clock.js'
import type { Db } from '../../platform/db/schema.js'
import { createFactCache } from '../../platform/fact-cache.js'
import type { ChatInstallation } from '../bots/bots/index.js'
import type { ChatAccess } from './access.js'
import type { UserKeys } from './user-keys.js'

export interface ChatAddressesDeps {
  /** The installation behind a webhook id. */
  findInstallation: (webhookId: string) => Promise<ChatInstallation | undefined>
  clock: Clock
}

/** Chat addresses by webhook id, cached for a few seconds. */
export interface ChatAddresses {
  /**
   * Returns a cached address without waiting. It is the same object until the address changes.
   * Rejects with `ResourceNotFound` for a webhook id that is unknown or switched off.
   */
  get(webhookId: string): ChatAddress | Promise<ChatAddress>
  /** Forgets the addresses of a bot that was changed or removed, or all. */
  forget(botId: string | undefined): void
}

/** The cached state of a webhook id. */
interface KnownAddress {
  botId: string
  /** Undefined while the installation is switched off. */
  address: ChatAddress | undefined
}

/** Makes the cache of chat addresses, also of those that are switched off, by webhook id. */
export function createChatAddresses({ findInstallation, clock }: ChatAddressesDeps): ChatAddresses {
  const known = createFactCache<KnownAddress>({
    clock,
    groupOf: (_, { botId }) => botId,
    async read(webhookId) {
      const found = await findInstallation(webhookId)
      return found && { botId: found.botId, address: found.enabled ? toAddress(found) : undefined }
    },
    // Verified keys are cached per address object, so a changed address invalidates them.
    isEqual: (before, now) => isSameAddress(before.address, now.address),
  })

  return {
    get(webhookId) {
      const found = known.get(webhookId)
      if (found instanceof Promise) return found.then((fact) => requireAddress(webhookId, fact))
      return found?.address ?? Promise.reject(notFound('chat address', webhookId))
    },
    forget(botId) {
      if (botId === undefined) known.forget(() => true)
      else known.forgetGroup(botId)
    },
  }
}

function requireAddress(webhookId: string, known: KnownAddress | undefined): ChatAddress {
  if (known?.address === undefined) throw notFound('chat address', webhookId)
  return known.address
}

function toAddress(installation: ChatInstallation): ChatAddress {
  const { encryptionKey } = installation.configuration
  return {
    workspaceId: installation.workspaceId,
    botId: installation.botId,
    webhookId: installation.webhookId,
    alias: installation.alias,
    encryptionKey:
      typeof encryptionKey === 'string' && encryptionKey !== '' ? encryptionKey : undefined,
  }
}

function isSameAddress(before: ChatAddress | undefined, now: ChatAddress | undefined): boolean {
  return (
    before !== undefined &&
    before.workspaceId === now?.workspaceId &&
    before.botId === now.botId &&
    before.alias === now.alias &&
    before.encryptionKey === now.encryptionKey
  )
}

/** Authenticates callers at chat addresses; without I/O when address and key are cached. */
export function createChatAuthenticator(
  addresses: ChatAddresses,
  keys: UserKeys,
  { db, findUser }: Pick<ChatAccess, 'findUser'> & { db: Db },
): Pick<Authenticator, 'chat' | 'chatUser' | 'holderOf'> {
  return {
    chat(webhookId, address) {
      return after(addresses.get(webhookId), (chat) => ({ kind: 'chat', chat, address }))
    },

    chatUser(webhookId, userKey) {
      return after(addresses.get(webhookId), (chat) => keys.verify(chat, userKey))
    },

    holderOf: async (actor) => (await findUser(db, actor))?.id,
  }
}
