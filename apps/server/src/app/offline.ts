import type { Config } from '../config/config.js'
import { createPorts } from '../domain/ports.js'
import { type CheckOptions, checkFiles, type Finding } from '../features/files/index.js'
import { createOperatorTokens, type OperatorTokens } from '../features/tenancy/access/index.js'
import { createAccounts } from '../features/tenancy/accounts/index.js'
import { type CheckedLog, checkAuditLogs, type Link } from '../features/tenancy/audit/index.js'
import { createPasswords } from '../features/tenancy/passwords/index.js'
import { createOperatorAccounts, type OperatorAccounts } from '../features/tenancy/sign-in/index.js'
import { createLog } from '../platform/telemetry/log.js'
import { createClosers } from './closers.js'
import { type Context, openBlobs, openContext } from './context.js'

/** Opens database and blobs for the check of files, without serving. */
export async function withFilesCheck<T>(
  config: Config,
  options: CheckOptions,
  work: (findings: AsyncIterable<Finding>) => Promise<T>,
): Promise<T> {
  return await withContext(config, async (context) => {
    const blobs = await openBlobs(context, { sweep: false })
    return await work(checkFiles({ ...context, blobs }, options))
  })
}

/** Opens the database for the check of audit logs, without serving. */
export async function withAuditCheck<T>(
  config: Config,
  known: ReadonlyMap<string, readonly Link[]>,
  work: (logs: AsyncIterable<CheckedLog>) => Promise<T>,
): Promise<T> {
  return await withContext(config, async ({ db }) => await work(checkAuditLogs(db, known)))
}

/** Opens the database for the commands that manage tokens, without serving. */
export async function withOperatorTokens<T>(
  config: Config,
  work: (tokens: OperatorTokens) => Promise<T>,
): Promise<T> {
  return await withContext(config, async (context) => {
    const accounts = createAccounts({ ...context, ports: createPorts() }).service
    return await work(createOperatorTokens({ ...context, accounts }))
  })
}

/** Opens the database for the commands that manage accounts, without serving. */
export async function withOperatorAccounts<T>(
  config: Config,
  work: (accounts: OperatorAccounts) => Promise<T>,
): Promise<T> {
  return await withContext(config, async (context) => {
    const accounts = createAccounts({ ...context, ports: createPorts() })
    const passwords = createPasswords({ ...context, accounts }).service
    return await work(createOperatorAccounts({ ...context, accounts: accounts.service, passwords }))
  })
}

/** Opens the context for one command, and closes it again. */
async function withContext<T>(config: Config, work: (context: Context) => Promise<T>): Promise<T> {
  // Standard output is for the results of commands, which programs read.
  const log = await createLog({ level: 'warn', pretty: true, destination: process.stderr })
  const closers = createClosers(log)
  try {
    return await work(await openContext({ config, log, isExisting: true }, closers))
  } finally {
    await closers.closeAll(config.shutdownTimeoutMs)
  }
}
