import { ApiError, type Body, contract, type Output } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import type { Ports } from '../../../domain/ports.js'
import { route } from '../../../http/mount.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean, encodeBoolean } from '../../../platform/db/columns.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Feature } from '../../feature.js'
import { type Act, changesBetween } from '../audit/index.js'
import * as store from './store.js'

export type { AccountRow } from './store.js'

interface AccountsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  ports: Pick<Ports, 'open'>
}

/** Records an act of a caller in each workspace of their account. */
type RecordOwn = (tx: Tx, actor: AccountActor, act: Act) => void

export type AccountsService = ReturnType<typeof createAccounts>['service']

/**
 * The address of the first account. It is unique, so that only one process creates that account.
 */
const firstEmail = 'admin@localhost'

/** The people behind personal access tokens. */
export function createAccounts({ db, run, clock, ids, ports }: AccountsDeps) {
  const record = ports.open<RecordOwn>('accounts: records in the audit logs of their workspaces')

  async function get(actor: AccountActor): Promise<store.AccountRow> {
    return requireAccount(await store.findAccount(db, actor.accountId))
  }

  async function update(
    actor: AccountActor,
    patch: Body<typeof contract.accounts.update>,
  ): Promise<store.AccountRow> {
    const changes = {
      ...(patch.displayName !== undefined && { display_name: patch.displayName }),
      ...(patch.profilePicture !== undefined && { profile_picture: patch.profilePicture }),
      updated_at: isoTime(clock.now()),
    }
    return await run(async (tx) => {
      const before = requireAccount(await store.findAccount(tx, actor.accountId))
      const after = requireAccount(await store.patchAccount(tx, actor.accountId, changes))
      const fields = ['display_name', 'profile_picture'] as const
      record.call(tx, actor, { changes: changesBetween(before, after, fields) })
      return after
    })
  }

  /** @returns false if another account has the address */
  async function changeEmail(tx: Tx, accountId: string, given: string): Promise<boolean> {
    const email = given.toLowerCase()
    const owner = await store.findAccountByEmail(tx, email)
    if (owner !== undefined) return owner.id === accountId
    await store.patchAccount(tx, accountId, {
      email,
      email_verified: encodeBoolean(false),
      updated_at: isoTime(clock.now()),
    })
    return true
  }

  /** Notes that the person has the mailbox of the account. @returns false if that was known */
  async function proveEmail(tx: Tx, accountId: string): Promise<boolean> {
    return await store.markVerified(tx, accountId, isoTime(clock.now()))
  }

  /** Some accounts by id; unknown ones are missing. */
  async function findMany(ids: readonly string[]): Promise<Map<string, store.AccountRow>> {
    return new Map((await store.listAccounts(db, ids)).map((row) => [row.id, row]))
  }

  /** The first account, or undefined on an empty database. */
  async function findFirst(): Promise<store.AccountRow | undefined> {
    return await store.findFirstAccount(db)
  }

  /** Whether an account is that of the operator of the server: the one of the first start. */
  async function isOperator(accountId: string): Promise<boolean> {
    return (await findFirst())?.id === accountId
  }

  /** @throws ApiError `Forbidden` unless the caller is the operator of the server */
  async function requireOperator({ accountId }: Pick<AccountActor, 'accountId'>): Promise<void> {
    if (await isOperator(accountId)) return
    throw new ApiError(
      'Forbidden',
      'Only the operator of the server may do this: the account of the first start, whose token is in admin-token of the data folder.',
    )
  }

  /**
   * Creates the first account of an empty database.
   * @returns its id, or undefined if there is an account, including one that another process is
   * creating
   */
  async function createFirst(tx: Tx): Promise<string | undefined> {
    if ((await store.findFirstAccount(tx)) !== undefined) return undefined
    return await create(tx, { email: firstEmail, displayName: 'Administrator' })
  }

  /** Creates an account. @returns its id, or undefined if there is one with the address */
  async function create(
    tx: Tx,
    { email, displayName }: { email: string; displayName: string },
  ): Promise<string | undefined> {
    const id = ids.next('accnt')
    const now = isoTime(clock.now())
    const made = await store.insertAccount(tx, {
      id,
      email,
      email_verified: encodeBoolean(false),
      display_name: displayName,
      profile_picture: null,
      created_at: now,
      updated_at: now,
    })
    return made ? id : undefined
  }

  return {
    name: 'accounts',
    record,
    service: {
      get,
      update,
      findMany,
      findByEmail: store.findAccountByEmail,
      findIn: store.findAccount,
      findFirst,
      listAll: () => store.listEveryAccount(db),
      create,
      changeEmail,
      remove: store.deleteAccount,
      proveEmail,
      createFirst,
      isOperator,
      requireOperator,
    },
    routes: [
      route(contract.accounts.get, async ({ actor }) => ({
        account: toAccount(await get(actor)),
      })),

      route(contract.accounts.update, async ({ actor, body }) => ({
        account: toAccount(await update(actor, body)),
      })),
    ],
  } satisfies Feature & { service: unknown; record: unknown }
}

/** The account of a token is missing only while other processes have not noticed its deletion. */
function requireAccount(account: store.AccountRow | undefined): store.AccountRow {
  if (account === undefined) {
    throw new ApiError('Unauthorized', 'The account of the token in Authorization is gone.')
  }
  return account
}

function toAccount(row: store.AccountRow): Output<typeof contract.accounts.get>['account'] {
  return {
    id: row.id,
    email: row.email,
    ...(row.display_name !== null && { displayName: row.display_name }),
    emailVerified: decodeBoolean(row.email_verified),
    ...(row.profile_picture !== null && { profilePicture: row.profile_picture }),
    createdAt: row.created_at,
  }
}
