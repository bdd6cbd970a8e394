import { encodeBoolean } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Tx } from '../../../platform/db/schema.js'
import {
  type InstallationChange,
  type InstallationRow,
  listInstallations,
  listInstallationsOfAccount,
  patchInstallation,
} from '../../bots/installations/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import type { LogLine } from '../../bots/logs/index.js'

export interface AccountsDeps {
  dialect: Pick<Dialect, 'holdName'>
  service: Pick<IntegrationsService, 'findNamed' | 'versionsOf'>
  writeLogLine: (tx: Tx, line: LogLine) => Promise<void>
}

/** An account, as an integration names it. */
type Account = Pick<InstallationRow, 'integration_id' | 'identifier'>

/**
 * Keeps the accounts of installations consistent: one that is connected in several workspaces is served in the first one, and
 * the others must learn that.
 */
export function createAccounts({ dialect, service, writeLogLine }: AccountsDeps) {
  async function settle(tx: Tx, { integration_id, identifier }: Account): Promise<void> {
    if (identifier === null) return
    const integration = await service.findNamed(tx, integration_id)
    if (integration === undefined) return
    const { workspaceId, name, findsAccounts } = integration
    const versions = await service.versionsOf(tx, { workspaceId, name })
    // Those who connect it at the same time see each other.
    await dialect.holdName(tx, `account ${workspaceId} ${name} ${identifier}`)
    const ids = versions.map(({ id }) => id)
    const holders = await listInstallationsOfAccount(tx, ids, identifier)
    for (const holder of holders) {
      const isElsewhere = findsAccounts && holder.workspace_id !== holders[0]?.workspace_id
      if (isElsewhere !== (holder.account_served_elsewhere === 1)) {
        await mark(tx, holder, isElsewhere)
      }
    }
  }

  async function mark(
    tx: Tx,
    { bot_id: botId, alias, identifier }: InstallationRow,
    isElsewhere: boolean,
  ): Promise<void> {
    await patchInstallation(tx, botId, alias, {
      account_served_elsewhere: encodeBoolean(isElsewhere),
    })
    await writeLogLine(tx, {
      botId,
      level: isElsewhere ? 'warn' : 'info',
      message: isElsewhere
        ? `${alias}: another workspace of this server connected the account ${identifier} first. Requests at the shared address of the integration go there until it lets go of the account.`
        : `${alias}: the other workspace let go of the account ${identifier}. Requests at the shared address of the integration reach this bot now.`,
    })
  }

  return {
    /** After an installation was connected to an account, or let go of one. */
    async settleIdentified(
      tx: Tx,
      { before, after }: { before: InstallationRow; after: InstallationRow },
    ): Promise<void> {
      await settle(tx, before)
      await settle(tx, after)
    },

    /** After a bot was moved to another workspace with its installations. */
    async settleMoved(tx: Tx, botId: string): Promise<void> {
      for (const row of await listInstallations(tx, botId)) await settle(tx, row)
    },

    /** After installations were switched on or off, removed, or got another version. */
    async settleChanges(tx: Tx, changes: readonly InstallationChange[]): Promise<void> {
      for (const { before, after } of changes) {
        const isSame =
          before?.enabled === after?.enabled && before?.integration_id === after?.integration_id
        if (isSame) continue
        if (before) await settle(tx, before)
        if (after) await settle(tx, after)
      }
    },
  }
}
