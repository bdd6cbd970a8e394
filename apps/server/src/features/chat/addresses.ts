import { ApiError } from '@botstead/contract'
import { LRUCache } from 'lru-cache'
import type { ChatAddress } from '../../domain/actor.js'
import type { Clock } from '../../platform/clock.js'
import type { ChatInstallation } from '../bots/bots/index.js'

export interface ChatAddressesDeps {
  /** The installation behind a webhook id. */
  findInstallation: (webhookId: string) => Promise<ChatInstallation | undefined>
  clock: Clock
}

/** Chat addresses by webhook id, remembered for a few seconds. */
export interface ChatAddresses {
  /**
   * Answers from memory when it can. As long as nothing about an address changes, it is the same
   * object. Throws `ResourceNotFound` for a webhook id that names nothing or is switched off.
   */
  get(webhookId: string): ChatAddress | Promise<ChatAddress>
  /** Forgets the addresses of a bot that was changed or removed. */
  forget(botId: string): void
}

interface Known {
  address: ChatAddress
  /** Milliseconds since the Unix epoch. */
  loadedAt: number
}

/** Milliseconds that this process may go on serving an address that another one changed. */
const maxAge = 5000
const maxAddresses = 10_000

export function createChatAddresses(deps: ChatAddressesDeps): ChatAddresses {
  const { findInstallation, clock } = deps
  const known = new LRUCache<string, Known>({ max: maxAddresses })
  const loading = new Map<string, Promise<ChatAddress>>()
  let forgotten = 0

  async function load(webhookId: string): Promise<ChatAddress> {
    const loadedAt = clock.now()
    const forgottenBefore = forgotten
    const installation = await findInstallation(webhookId)
    if (installation === undefined || !installation.enabled) {
      known.delete(webhookId)
      throw new ApiError('ResourceNotFound', `There is no chat address ${webhookId}.`)
    }
    const address = sameIfEqual(known.get(webhookId)?.address, toAddress(installation))
    // What was read before somebody forgot the bot may be old already.
    if (forgotten === forgottenBefore) known.set(webhookId, { address, loadedAt })
    return address
  }

  return {
    get(webhookId) {
      const entry = known.get(webhookId)
      if (entry !== undefined && Math.abs(clock.now() - entry.loadedAt) < maxAge) {
        return entry.address
      }
      const running = loading.get(webhookId)
      if (running !== undefined) return running
      const started = load(webhookId).finally(() => loading.delete(webhookId))
      loading.set(webhookId, started)
      return started
    },

    forget(botId) {
      forgotten += 1
      loading.clear()
      for (const [webhookId, { address }] of known.entries()) {
        if (address.botId === botId) known.delete(webhookId)
      }
    },
  }
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

/** What was verified for an address counts as long as the address is the same object. */
function sameIfEqual(known: ChatAddress | undefined, loaded: ChatAddress): ChatAddress {
  const unchanged =
    known !== undefined &&
    known.workspaceId === loaded.workspaceId &&
    known.botId === loaded.botId &&
    known.alias === loaded.alias &&
    known.encryptionKey === loaded.encryptionKey
  return unchanged ? known : loaded
}
