import type { BotActor } from '../../../domain/actor.js'
import { scopeRefusal } from '../../../domain/authenticator.js'
import { type BotScope, type Rights, reaches, requirePermission } from '../../../domain/rights.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { limitsOf } from './limits.js'
import type { Memberships } from './memberships.js'
import { findToken, type TokenRow } from './store.js'

/** Queries about bots that access needs of a slice to its right. */
export interface BotDirectory {
  /** The workspace of a bot; undefined if there is no such bot. */
  workspaceOf(botId: string): Promise<string | undefined>
  /** Whether a bot belongs to a workspace and is one that the caller may see. */
  isIn(scope: BotScope, botId: string): Promise<boolean>
  /**
   * Keeps a bot from being deleted until the transaction ends, which creates something that belongs to it.
   * @returns whether it is one that the caller may see
   */
  hold(tx: Tx, scope: BotScope, botId: string): Promise<boolean>
  /** The integrations that are installed in a bot. */
  installationsOf(
    botId: string,
  ): Promise<readonly { integration_id: string; alias: string; name: string }[]>
}

/** The access of a token holder to bots other than the one of the call. */
export interface Reach {
  /** Whether a call was made with the key of its bot, rather than by a person. */
  isBotKey(actor: BotActor): Promise<boolean>
  /** The same caller in another bot; undefined unless the token may write files there. */
  writerIn(actor: BotActor, botId: string): Promise<BotActor | undefined>
  /**
   * Checks after a request that waited that its caller may still read files of the bot.
   * @throws ApiError `Unauthorized` if the token, the membership or the bot is gone, or the bot is hidden
   */
  requireReader(actor: BotActor): Promise<void>
  /**
   * The holder of a token in a bot; undefined unless the token is valid there. Throws `Forbidden`
   * for members without `bots:write`.
   */
  holderIn(tokenId: string, botId: string): Promise<Holder | undefined>
}

/** The holder of a token. */
interface Holder {
  workspaceId: string
  /** Id of the account of a personal token; of keys, the id of the bot. */
  userId: string
}

interface ReachDeps {
  db: Db
  clock: Clock
  bots: BotDirectory
  memberships: Memberships
}

/** Makes these checks. `bots` and `memberships` say which bots and members there are now. */
export function createReach({ db, clock, bots, memberships }: ReachDeps): Reach {
  /** Whether the key of a bot or an integration is good in a bot. */
  async function opens(token: TokenRow, botId: string): Promise<boolean> {
    if (token.kind === 'bot') return token.bot_id === botId
    const installed = await bots.installationsOf(botId)
    return installed.some(({ integration_id }) => integration_id === token.integration_id)
  }

  /** The rights of the owner of a token in a bot; undefined if the token is no personal one, or does not reach the bot. */
  async function rightsAt(
    token: TokenRow,
    workspaceId: string,
    botId: string,
  ): Promise<Rights | undefined> {
    if (token.account_id === null) return undefined
    const rights = await memberships.rightsIn(token.account_id, workspaceId, limitsOf(token))
    return rights !== undefined && reaches(rights, botId) ? rights : undefined
  }

  return {
    isBotKey: async ({ tokenId }) => (await findToken(db, tokenId))?.kind === 'bot',

    writerIn: async (actor, botId) => {
      if (botId === actor.botId) return actor
      const token = await findToken(db, actor.tokenId)
      const workspaceId = await bots.workspaceOf(botId)
      if (token === undefined || workspaceId === undefined) return undefined
      // The key of a bot gives access to that bot only, and has no rights in another.
      const rights = await rightsAt(token, workspaceId, botId)
      return rights?.permissions.has('files:write') ? { ...actor, botId, workspaceId } : undefined
    },

    async requireReader({ tokenId, botId }) {
      const token = await findToken(db, tokenId)
      const workspaceId = await bots.workspaceOf(botId)
      const isGood =
        token !== undefined &&
        workspaceId !== undefined &&
        (token.expires_at === null || token.expires_at > isoTime(clock.now()))
      if (!isGood) throw scopeRefusal('x-bot-id')
      if (token.account_id === null) {
        if (await opens(token, botId)) return
        throw scopeRefusal('x-bot-id')
      }
      const rights = await rightsAt(token, workspaceId, botId)
      if (rights === undefined) throw scopeRefusal('x-bot-id')
      requirePermission(rights, 'files:read')
    },

    async holderIn(tokenId, botId) {
      const token = await findToken(db, tokenId)
      const workspaceId = await bots.workspaceOf(botId)
      if (token === undefined || workspaceId === undefined) return undefined
      if (token.account_id !== null) {
        const rights = await rightsAt(token, workspaceId, botId)
        if (rights === undefined) return undefined
        requirePermission(rights, 'bots:write')
        return { workspaceId, userId: token.account_id }
      }
      return (await opens(token, botId)) ? { workspaceId, userId: botId } : undefined
    },
  }
}
