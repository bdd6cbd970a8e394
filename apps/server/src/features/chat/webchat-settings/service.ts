import {
  ApiError,
  type Body,
  type contract,
  defaultWebchatSettings,
  type Output,
  type Query,
  WebchatSettings,
} from '@botstead/contract'
import type { ChatAddress, WorkspaceActor } from '../../../domain/actor.js'
import type { Addresses } from '../../../domain/addresses.js'
import { notFound } from '../../../domain/refusals.js'
import { allBotsOf } from '../../../domain/rights.js'
import type { Authorities } from '../../../platform/authorities.js'
import { type Awaitable, after } from '../../../platform/awaitable.js'
import type { Clock } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotsService } from '../../bots/bots/index.js'
import { fieldsOf, recordAct } from '../../tenancy/audit/index.js'
import type { ChatAddresses } from '../addresses.js'
import { codeOf } from './code.js'
import { isAllowedOrigin, normalizeOrigins } from './origins.js'
import * as store from './store.js'

export interface WebchatSettingsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  authorities: Pick<Authorities, 'change'>
  addresses: Addresses
  chatAddresses: Pick<ChatAddresses, 'get'>
  bots: Pick<BotsService, 'requireIn' | 'namesOf' | 'findOpenChat'>
}

/** The settings of a web chat in force, and the web sites that may use it. */
export interface WebchatInForce {
  settings: WebchatSettings
  /** Empty allows all. */
  allowedOrigins: readonly string[]
}

type BotWebchat = Output<typeof contract.botWebchat.getSettings>['webchat']
type Patch = Body<typeof contract.botWebchat.updateSettings>
type CodeType = Query<typeof contract.botWebchat.getCode>['type']

const origins = 'allowedOrigins'

export type WebchatSettingsService = ReturnType<typeof createWebchatSettings>

/**
 * The settings of the web chats of bots. Settings in force are cached, because each request of a page asks for it; a
 * change clears the caches of all processes.
 */
export function createWebchatSettings(deps: WebchatSettingsDeps) {
  const { db, run, clock, authorities, bots, addresses, chatAddresses } = deps
  const known = createFactCache<WebchatInForce>({
    clock,
    groupOf: (key) => key.slice(key.indexOf('/') + 1),
    read: async (key) => {
      const [workspaceId = '', botId = ''] = key.split('/')
      const { settings, allowedOrigins } = await read(workspaceId, botId)
      return { settings, allowedOrigins }
    },
  })

  async function read(workspaceId: string, botId: string) {
    const rows = await store.listSettings(db, botId)
    const names = await bots.namesOf(allBotsOf(workspaceId), [botId])
    const set = Object.fromEntries([...rows].map(([name, value]) => [name, decodeJson(value)]))
    const { [origins]: allowedOrigins = [], ...settings } = set as Partial<
      BotWebchat['settings']
    > & {
      allowedOrigins?: string[]
    }
    return {
      settings: { ...defaultWebchatSettings(names.get(botId) ?? ''), ...settings },
      changed: Object.keys(settings),
      allowedOrigins,
    }
  }

  /** Settings in force at a chat address; rejects with `ResourceNotFound` if it is unknown or switched off. */
  function inForce(webhookId: string): Awaitable<WebchatInForce> {
    return after(chatAddresses.get(webhookId), inForceAt)
  }

  function inForceAt({ workspaceId, botId, webhookId }: ChatAddress): Awaitable<WebchatInForce> {
    return after(known.get(`${workspaceId}/${botId}`), (found) => {
      if (found === undefined) throw notFound('chat address', webhookId)
      return found
    })
  }

  async function findAddress(botId: string): Promise<string | undefined> {
    const chat = await bots.findOpenChat(botId)
    return chat && `${addresses.webchat()}/${encodeURIComponent(chat.webhook_id)}`
  }

  async function show({ workspaceId }: WorkspaceActor, botId: string): Promise<BotWebchat> {
    const shareUrl = await findAddress(botId)
    return { ...(await read(workspaceId, botId)), ...(shareUrl !== undefined && { shareUrl }) }
  }

  return {
    inForce,

    /** Clears the cached settings of a bot, or all, in this process. */
    forget(botId: string | undefined): void {
      if (botId === undefined) known.forget(() => true)
      else known.forgetGroup(botId)
    },

    /** Whether a page of an origin may use the chat at an address; true where there is no chat. */
    allowsOrigin(webhookId: string, origin: string): Awaitable<boolean> {
      const found = inForce(webhookId)
      if (!(found instanceof Promise)) return isAllowedOrigin(found.allowedOrigins, origin)
      return found.then(
        ({ allowedOrigins }) => isAllowedOrigin(allowedOrigins, origin),
        (error: unknown) => {
          if (error instanceof ApiError && error.type === 'ResourceNotFound') return true
          throw error
        },
      )
    },

    async get(actor: WorkspaceActor, botId: string): Promise<BotWebchat> {
      await bots.requireIn(actor, botId)
      return await show(actor, botId)
    },

    async update(actor: WorkspaceActor, botId: string, patch: Patch): Promise<BotWebchat> {
      await bots.requireIn(actor, botId)
      const changes = toChanges(patch)
      await run(async (tx) => {
        for (const [name, value] of changes) {
          if (value === undefined) await store.deleteSetting(tx, botId, name)
          else await store.putSetting(tx, { bot_id: botId, name, value: encodeJson(value) })
        }
        recordAct(deps, tx, actor, { resourceId: botId, changes: fieldsOf(patch) })
        // Pages of web sites that are no longer allowed are disconnected, too.
        afterCommit(tx, () => authorities.change(`bot:${botId}`))
      })
      return await show(actor, botId)
    },

    /** HTML or an address; throws `ResourceNotFound` while the bot has no chat. */
    async code(actor: WorkspaceActor, botId: string, type: CodeType): Promise<string> {
      await bots.requireIn(actor, botId)
      const address = await findAddress(botId)
      if (address === undefined) {
        throw new ApiError(
          'ResourceNotFound',
          `The bot ${botId} has no chat, or its integration chat is switched off.`,
        )
      }
      return codeOf(type, address, (await read(actor.workspaceId, botId)).settings)
    },

    async purge(botId: string): Promise<void> {
      await run((tx: Tx) => store.deleteSettings(tx, botId), { mayUseReserve: true })
    },
  }
}

const names = Object.keys(WebchatSettings.properties)

/** The changes of a patch by name. Their order is fixed, so that two patches at once wait for each other; undefined unsets. */
function toChanges({ allowedOrigins, ...settings }: Patch): [string, unknown][] {
  const given: Record<string, unknown> = settings
  const changes: [string, unknown][] = names
    .filter((name) => given[name] !== undefined)
    .map((name) => [name, given[name] ?? undefined])
  if (allowedOrigins !== undefined) {
    const normalized = normalizeOrigins(allowedOrigins ?? [])
    changes.push([origins, normalized.length === 0 ? undefined : normalized])
  }
  return changes
}
