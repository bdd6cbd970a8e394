import type { Authorities } from '../../../platform/authorities.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { hashToken, newToken } from '../../../platform/ids.js'
import { endSessions } from '../access/index.js'
import type { AccountRow, AccountsService } from '../accounts/index.js'
import { recordByOperator } from '../members/index.js'
import type { PasswordsService } from '../passwords/index.js'
import { countPasskeys, deletePasskeysOf } from './passkey-store.js'
import {
  deleteSecondFactor,
  deleteTicketsOf,
  listAccountsWithSecondFactor,
} from './second-factor-store.js'
import { endIdentities } from './single-sign-on-store.js'
import { insertReset } from './store.js'

export interface OperatorAccountsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  accounts: Pick<AccountsService, 'create' | 'findByEmail' | 'listAll'>
  passwords: Pick<PasswordsService, 'listAccounts'>
  authorities: Pick<Authorities, 'change'>
}

export type OperatorAccounts = ReturnType<typeof createOperatorAccounts>

/** An account as the operator sees it. */
export interface ListedAccount extends Pick<AccountRow, 'email' | 'display_name' | 'created_at'> {
  hasPassword: boolean
  hasSecondFactor: boolean
  passkeys: number
}

/** Milliseconds for which a link of the operator sets a password: it is passed on to somebody. */
const linkLifetime = 24 * 60 * 60 * 1000

/** Accounts for the operator of the server, from the command line, directly on the database. */
export function createOperatorAccounts(deps: OperatorAccountsDeps) {
  const { run, accounts } = deps

  async function addLink(tx: Tx, accountId: string): Promise<string> {
    const code = newToken('bp_res_')
    await insertReset(tx, {
      hash: hashToken(code),
      account_id: accountId,
      expires_at: isoTime(deps.clock.now() + linkLifetime),
      mailed_to: null,
    })
    return code
  }

  return {
    /** @returns the code of a link that sets the first password */
    create: async (email: string, displayName: string): Promise<string> =>
      await run(async (tx) => {
        const id = await accounts.create(tx, { email: email.toLowerCase(), displayName })
        if (id === undefined) throw new Error(`There is an account with the address ${email}.`)
        return await addLink(tx, id)
      }),

    /** Ends the sessions of an account, its passkeys and its connections with a provider, and its second factor if that is wanted. @returns the code of a link that sets its password */
    reset: async (
      email: string,
      { secondFactor = false }: { secondFactor?: boolean } = {},
    ): Promise<string> =>
      await run(async (tx) => {
        const account = await accounts.findByEmail(tx, email.toLowerCase())
        if (account === undefined) throw new Error(`There is no account with the address ${email}.`)
        // First, so that a sign-in with one of them at the same time ends before, and its session with the others.
        const ended = await endIdentities(tx, account.id, isoTime(deps.clock.now()))
        await deletePasskeysOf(tx, account.id)
        await endSessions(deps, tx, account.id)
        await deleteTicketsOf(tx, account.id)
        if (secondFactor) await deleteSecondFactor(tx, account.id)
        const changes = {
          secondFactor: { to: secondFactor ? 'removed' : 'kept' },
          ...(ended.length > 0 && { singleSignOn: { to: 'removed' } }),
        }
        recordByOperator(deps, tx, 'operator.resetPassword', account.id, {
          resourceName: account.email,
          changes,
        })
        return await addLink(tx, account.id)
      }),

    /** All accounts, oldest first. */
    async list(): Promise<ListedAccount[]> {
      const withPassword = await deps.passwords.listAccounts()
      const passkeys = await countPasskeys(deps.db)
      const withSecondFactor = new Set(await listAccountsWithSecondFactor(deps.db))
      return (await accounts.listAll()).map((row) => ({
        ...row,
        hasPassword: withPassword.has(row.id),
        hasSecondFactor: withSecondFactor.has(row.id),
        passkeys: passkeys.get(row.id) ?? 0,
      }))
    },
  }
}
