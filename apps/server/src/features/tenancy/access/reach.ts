import type { BotActor, WorkspaceActor } from '../../../domain/actor.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { findRole, mayWrite, readsOnly } from '../members/index.js'
import { findToken } from './store.js'

/** Queries about bots that access needs of a slice to its right. */
export interface BotDirectory {
  /** The workspace of a bot; undefined if there is no such bot. */
  workspaceOf(botId: string): Promise<string | undefined>
  /**
   * Keeps a bot from being deleted until the transaction ends, which creates something that belongs to it.
   * @returns whether it is in the workspace
   */
  hold(tx: Tx, actor: Pick<WorkspaceActor, 'workspaceId'>, botId: string): Promise<boolean>
  /** The integrations that are installed in a bot. */
  installationsOf(
    botId: string,
  ): Promise<readonly { integration_id: string; alias: string; name: string }[]>
}

/** The access of a token holder to bots other than the one of the call. */
export interface Reach {
  /** Whether a call was made with the key of its bot, rather than by a person. */
  isBotKey(actor: BotActor): Promise<boolean>
  /** The same caller in another bot; undefined unless the token may write there. */
  writerIn(actor: BotActor, botId: string): Promise<BotActor | undefined>
  /**
   * The holder of a token in a bot; undefined unless the token is valid there. Throws `Forbidden`
   * for members who may only read there.
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
  bots: BotDirectory
}

/** Makes these checks. `bots` says which bots there are now. */
export function createReach({ db, bots }: ReachDeps): Reach {
  return {
    isBotKey: async ({ tokenId }) => (await findToken(db, tokenId))?.kind === 'bot',

    writerIn: async (actor, botId) => {
      if (botId === actor.botId) return actor
      const token = await findToken(db, actor.tokenId)
      const workspaceId = await bots.workspaceOf(botId)
      // The key of a bot gives access to that bot only.
      if (token === undefined || token.account_id === null || workspaceId === undefined) {
        return undefined
      }
      const role = await findRole(db, token.account_id, workspaceId)
      return role !== undefined && mayWrite(role) ? { ...actor, botId, workspaceId } : undefined
    },

    async holderIn(tokenId, botId) {
      const token = await findToken(db, tokenId)
      const workspaceId = await bots.workspaceOf(botId)
      if (token === undefined || workspaceId === undefined) return undefined
      if (token.account_id !== null) {
        const role = await findRole(db, token.account_id, workspaceId)
        if (role === undefined) return undefined
        if (!mayWrite(role)) throw readsOnly(role)
        return { workspaceId, userId: token.account_id }
      }
      const isUsable =
        token.kind === 'bot'
          ? token.bot_id === botId
          : (await bots.installationsOf(botId)).some(
              ({ integration_id }) => integration_id === token.integration_id,
            )
      return isUsable ? { workspaceId, userId: botId } : undefined
    },
  }
}
