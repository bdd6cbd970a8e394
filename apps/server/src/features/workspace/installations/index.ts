import { contract, type Output } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import type { Addresses } from '../../../domain/addresses.js'
import { route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { BotsService } from '../../bots/bots/index.js'
import {
  type InstallationListRow,
  pageInstallationsOf,
  statusReasonOf,
} from '../../bots/installations/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import { type LastError, listLastErrors } from '../../bots/log-lines/index.js'
import type { Feature } from '../../feature.js'

interface InstallationsDeps {
  db: Db
  pager: Pager
  addresses: Pick<Addresses, 'webhooks'>
  bots: Pick<BotsService, 'namesOf'>
  integrations: Pick<IntegrationsService, 'get'>
}

type ListQuery = { nextToken?: string; pageSize?: number; status?: InstallationListRow['status'] }
type WireInstallation = Output<
  typeof contract.integrationInstallations.list
>['installations'][number]

/** An installation with what a list shows beside it. */
interface ListedInstallation {
  row: InstallationListRow
  botName: string
  lastError: LastError | undefined
}

/** Creates the list of the installations of integrations, for those who operate them. */
export function createInstallationList(deps: InstallationsDeps): Feature {
  const { db, addresses } = deps

  async function list(
    actor: WorkspaceActor,
    id: string,
    { nextToken, pageSize, status }: ListQuery,
  ): Promise<Page<ListedInstallation>> {
    await deps.integrations.get(actor, id)
    const page = deps.pager.page({
      operation: 'listIntegrationInstallations',
      scope: `${actor.workspaceId} ${id}`,
      filter: { status },
      sort: 'bot_id',
      direction: 'asc',
      nextToken,
      pageSize,
    })
    const { rows, nextToken: next } = await pageInstallationsOf(db, actor, id, status, page)
    const botIds = [...new Set(rows.map(({ bot_id }) => bot_id))]
    const [names, errors] = await Promise.all([
      deps.bots.namesOf(actor, botIds),
      listLastErrors(db, id, botIds),
    ])
    return {
      nextToken: next,
      rows: rows.map((row) => ({
        row,
        botName: names.get(row.bot_id) ?? '',
        lastError: errors.get(row.bot_id),
      })),
    }
  }

  function toInstallation({ row, botName, lastError }: ListedInstallation): WireInstallation {
    const reason = statusReasonOf(row)
    return {
      botId: row.bot_id,
      botName,
      alias: row.id,
      enabled: decodeBoolean(row.enabled),
      status: row.status,
      ...(reason !== null && { statusReason: reason }),
      webhookUrl: `${addresses.webhooks()}/${row.webhook_id}`,
      ...(row.identifier !== null && { identifier: row.identifier }),
      ...(lastError && {
        lastError: { timestamp: lastError.created_at, message: lastError.message },
      }),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }
  }

  return {
    name: 'installations',
    routes: [
      route(contract.integrationInstallations.list, async ({ actor, params, query }) => {
        const page = await list(actor, params.id, query)
        return { installations: page.rows.map(toInstallation), meta: toPageMeta(page) }
      }),
    ],
  }
}
