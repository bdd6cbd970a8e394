import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { OperatorTokens } from '../features/tenancy/access/index.js'
import type { AccountsService } from '../features/tenancy/accounts/index.js'
import type { WorkspacesService } from '../features/tenancy/workspaces/index.js'
import type { Run, Tx } from '../platform/db/schema.js'
import { newToken } from '../platform/ids.js'
import { keepSecretFile, replaceSecretFile } from '../platform/security/secrets.js'
import type { Log } from '../platform/telemetry/log.js'

/** Results of the first start. */
export interface FirstStart {
  token: string
  /** Whether the server generated the token: shown once, because only this process knows it. */
  isNew: boolean
  workspaceId: string
  /** File of the token. */
  tokenFile: string
  /** Code that signs one browser in to the dashboard; undefined if there is none. */
  signInCode: string | undefined
}

export interface FirstStartDeps {
  run: Run
  accounts: Pick<AccountsService, 'createFirst' | 'findFirst'>
  workspaces: Pick<WorkspacesService, 'createFirst'>
  tokens: Pick<OperatorTokens, 'add' | 'addSignInCode' | 'isKnown'>
  /** Whether to make a code that signs a browser in. */
  signIn: boolean
  dataDir: string
  /** Token given by the operator; generated at the first start if left out. */
  adminToken: string | undefined
  log: Log
}

/** Shorter tokens come from a truncated file. */
const minTokenLength = 20
const givenNote = 'BOTSTEAD_ADMIN_TOKEN'

/**
 * Prepares an empty database: an account, the workspace `Default` and a token. Of several processes
 * that start together, one does so. On a database in use, only adds an unknown token that the
 * operator gave.
 * @returns what was created, or undefined if the database was in use
 */
export async function firstStart(deps: FirstStartDeps): Promise<FirstStart | undefined> {
  const made = (await deps.accounts.findFirst()) ? undefined : await createFirst(deps)
  if (made === undefined && deps.adminToken !== undefined) await addGiven(deps, deps.adminToken)
  return made
}

async function createFirst(deps: FirstStartDeps): Promise<FirstStart | undefined> {
  const { run, accounts, workspaces, tokens } = deps
  const tokenFile = join(deps.dataDir, 'admin-token')
  // The file comes first: a crash in between leaves a token that the next start uses. The other
  // order would leave an account whose token is unknown.
  const token = await keepToken(tokenFile, deps.adminToken)
  const made = await run(async (tx) => {
    const accountId = await accounts.createFirst(tx)
    if (accountId === undefined) return undefined
    await tokens.add(tx, accountId, token, deps.adminToken ? givenNote : 'First start')
    const workspaceId = await workspaces.createFirst(tx, accountId)
    const signInCode = deps.signIn ? await tokens.addSignInCode(tx, accountId) : undefined
    return { workspaceId, signInCode }
  })
  if (made !== undefined) return { token, isNew: deps.adminToken === undefined, tokenFile, ...made }
  // Another process was first. With another data folder it has another token, and ours is invalid.
  if (!(await tokens.isKnown(token))) await rm(tokenFile, { force: true })
  return undefined
}

async function keepToken(path: string, given: string | undefined): Promise<string> {
  // A file of an earlier database must not contradict the token of the operator.
  if (given !== undefined) {
    await replaceSecretFile(path, given)
    return given
  }
  const token = await keepSecretFile(path, () => newToken('bp_pat_'))
  if (token.length < minTokenLength) {
    throw new Error(`The token in ${path} is damaged: delete the file for a new one.`)
  }
  return token
}

async function addGiven(deps: FirstStartDeps, value: string): Promise<void> {
  if (await deps.tokens.isKnown(value)) return
  const account = await deps.accounts.findFirst()
  if (account === undefined) return
  // Also on a full disk: it may be the only token that permits deletions.
  const add = (tx: Tx) => deps.tokens.add(tx, account.id, value, givenNote)
  if (!(await deps.run(add, { mayUseReserve: true }))) return
  deps.log.info(
    { accountId: account.id, note: givenNote },
    'BOTSTEAD_ADMIN_TOKEN was added to the tokens of the first account; the earlier ones stay valid',
  )
}
