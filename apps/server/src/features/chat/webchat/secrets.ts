import { createHmac, timingSafeEqual } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import type { ChatAddress, WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { newSigningSecret } from '../../../platform/ids.js'
import type { BotsService } from '../../bots/bots/index.js'
import * as store from './secret-store.js'

export interface ChatSecretsDeps {
  db: Db
  run: Run
  clock: Clock
  bots: Pick<BotsService, 'requireIn'>
  /** Key of the hashes. */
  secretsKey: Uint8Array
}

/** Whether a call has the admin secret of its chat. */
export type AdminCheck = (chat: ChatAddress, given: string | undefined) => Promise<boolean>

/**
 * The admin secrets of chats. Only a keyed hash is stored: a copy of the database alone does not even allow
 * guessing.
 */
export function createChatSecrets({ db, run, clock, bots, secretsKey }: ChatSecretsDeps) {
  const hashOf = (botId: string, secret: string): Buffer =>
    createHmac('sha256', secretsKey).update(botId).update('\0').update(secret).digest()

  /** True with the right secret, false without one; throws `Unauthorized` with a wrong one. */
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

    /** Throws `Unauthorized` unless the call has the secret. */
    async requireAdmin(chat: ChatAddress, given: string | undefined): Promise<void> {
      if (await isAdmin(chat, given)) return
      throw new ApiError(
        'Unauthorized',
        'The header x-admin-secret is required: the admin secret that the workspace of the bot set for its chat.',
      )
    },

    async set(actor: WorkspaceActor, botId: string, given: string | undefined): Promise<string> {
      await bots.requireIn(actor, botId)
      const secret = given ?? newSigningSecret()
      const hash = hashOf(botId, secret).toString('hex')
      await run((tx) =>
        store.putSecretHash(tx, { bot_id: botId, hash, created_at: isoTime(clock.now()) }),
      )
      return secret
    },

    async remove(actor: WorkspaceActor, botId: string): Promise<void> {
      await bots.requireIn(actor, botId)
      await run((tx) => store.deleteSecret(tx, botId), { mayUseReserve: true })
    },
  }
}

export type ChatSecrets = ReturnType<typeof createChatSecrets>
