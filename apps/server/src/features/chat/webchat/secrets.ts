import { createHmac, timingSafeEqual } from 'node:crypto'
import { ApiError, type Body, type contract } from '@botstead/contract'
import type { ChatActor, ChatAddress, WorkspaceActor } from '../../../domain/actor.js'
import { fieldError } from '../../../domain/refusals.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { type Ids, newSigningSecret } from '../../../platform/ids.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { UsersService } from '../../conversations/users/index.js'
import { recordAct } from '../../tenancy/audit/index.js'
import type { UserKeys } from '../user-keys.js'
import * as store from './secret-store.js'

type NewUserKey = Body<typeof contract.webchat.createUserKey>

export interface ChatSecretsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  bots: Pick<BotsService, 'requireIn'>
  keys: UserKeys
  users: Pick<UsersService, 'getOrCreate'>
  /** Key of the hashes. */
  secretsKey: Uint8Array
}

/** Whether a call has the admin secret of its chat; throws `Unauthorized` if it has a wrong one. */
export type AdminCheck = (chat: ChatAddress, given: string | undefined) => Promise<boolean>

/**
 * The admin secrets of chats, and the user keys that programs with a secret create. Only a keyed hash of a secret is
 * stored: who has a copy of the database alone cannot test guesses.
 */
export function createChatSecrets(deps: ChatSecretsDeps) {
  const { db, run, clock, bots, keys, users, secretsKey } = deps

  const hashOf = (botId: string, secret: string): Buffer =>
    createHmac('sha256', secretsKey).update(botId).update('\0').update(secret).digest()

  const isAdmin: AdminCheck = async ({ botId }, given) => {
    if (given === undefined || given === '') return false
    const hash = await store.findSecretHash(db, botId)
    if (hash !== undefined && timingSafeEqual(Buffer.from(hash, 'hex'), hashOf(botId, given))) {
      return true
    }
    throw new ApiError('Unauthorized', 'x-admin-secret is not the admin secret of this chat.')
  }

  return {
    isAdmin,

    /** Creates a key of a user, and the user if there is none; throws `Unauthorized` without the secret. */
    async createUserKey(
      { chat }: ChatActor,
      { id, expiresAt }: NewUserKey,
      secret: string | undefined,
    ): Promise<string> {
      if (!(await isAdmin(chat, secret))) {
        throw new ApiError(
          'Unauthorized',
          'The header x-admin-secret is required: the admin secret that the workspace of the bot set for its chat.',
        )
      }
      const now = clock.now()
      if (expiresAt !== undefined && expiresAt <= now) {
        throw fieldError(
          'body.expiresAt',
          'must be in the future, in milliseconds since the Unix epoch.',
        )
      }
      // Newer than any revocation: a program with the secret may readmit a user.
      const user = await users.getOrCreate(chat, id, {}, now)
      return await keys.sign(chat, id, user.keys_revoked_at, expiresAt)
    },

    /** Sets the secret of a bot's chat and returns it; generates one if none is given. */

    async set(actor: WorkspaceActor, botId: string, given: string | undefined): Promise<string> {
      await bots.requireIn(actor, botId)
      const secret = given ?? newSigningSecret()
      const hash = hashOf(botId, secret).toString('hex')
      await run(async (tx) => {
        await store.putSecretHash(tx, { bot_id: botId, hash, created_at: isoTime(clock.now()) })
        recordAct(deps, tx, actor, { resourceId: botId })
      })
      return secret
    },

    /** Removes the secret; does nothing if there is none. */
    async remove(actor: WorkspaceActor, botId: string): Promise<void> {
      await bots.requireIn(actor, botId)
      const remove = async (tx: Tx) => {
        await store.deleteSecret(tx, botId)
        recordAct(deps, tx, actor, { resourceId: botId })
      }
      await run(remove, { mayUseReserve: true })
    },
  }
}

export type ChatSecrets = ReturnType<typeof createChatSecrets>
