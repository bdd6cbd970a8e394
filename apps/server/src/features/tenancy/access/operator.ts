import type { Clock } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { hashToken, type Ids } from '../../../platform/ids.js'
import type { AccountsService } from '../accounts/index.js'
import { type MadeToken, makeToken } from './service.js'
import * as store from './store.js'

export interface OperatorTokensDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  accounts: Pick<AccountsService, 'findFirst'>
}

export type OperatorTokens = ReturnType<typeof createOperatorTokens>

/**
 * Tokens for the operator of the server, at the first start and from the command line, directly on
 * the database. A running server notices a revocation within five seconds.
 */
export function createOperatorTokens(deps: OperatorTokensDeps) {
  const { db, run } = deps

  return {
    /**
     * Creates a personal token of the first account. Rejects if the database has no account yet.
     */
    async createForFirstAccount(note: string): Promise<MadeToken> {
      const account = await deps.accounts.findFirst()
      if (account === undefined) {
        throw new Error('There is no account yet: the first start of the server creates one.')
      }
      const made = makeToken({ kind: 'personal', accountId: account.id }, note, deps)
      await run((tx) => store.insertToken(tx, made.token))
      return made
    },

    /**
     * Tokens of every kind and owner, newest first; without their values, of which only hashes are
     * stored.
     */
    async listAll(): Promise<store.TokenRow[]> {
      return await store.listTokens(db)
    },

    /** Deletes a token of any kind and owner. @returns whether it existed */
    async revoke(id: string): Promise<boolean> {
      return await run((tx) => store.deleteToken(tx, id), { mayUseReserve: true })
    },

    /** Whether there is a token with this value, of any kind and owner. */
    async isKnown(value: string): Promise<boolean> {
      return (await store.findTokenByHash(db, hashToken(value))) !== undefined
    },

    /**
     * Adds a token with a chosen value to an account.
     * @returns whether it was added: false if there is a token with this value
     */
    async add(tx: Tx, accountId: string, value: string, note: string): Promise<boolean> {
      const { token } = makeToken({ kind: 'personal', accountId }, note, deps, value)
      return await store.insertToken(tx, token)
    },
  }
}
