import { contract, type Output } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Feature } from '../../feature.js'
import { createIssuesService, type IssuesDeps, type IssuesService } from './service.js'
import type { IssueEventRow, IssueRow } from './store.js'

export type { IssueData, IssueReport } from './grouping.js'
export type { IssuesService } from './service.js'

type WireIssue = Output<typeof contract.botIssues.get>['issue']
type WireEvent = Output<typeof contract.botIssues.listEvents>['issueEvents'][number]

/** Issues of bots whose code runs here. */
export function createIssues(deps: IssuesDeps): Feature & { service: IssuesService } {
  const service = createIssuesService(deps)
  return {
    name: 'bot issues',
    service,
    sweeps: [service.sweep],
    purge: service.purge,
    stop: () => service.flush(),
    routes: [
      route(contract.botIssues.list, async ({ actor, params, query }) => {
        const page = await service.page(actor, params.id, query)
        return { issues: page.rows.map(toIssue), meta: toPageMeta(page) }
      }),

      route(contract.botIssues.get, async ({ actor, params }) => ({
        issue: toIssue(await service.require(actor, params.id, params.issueId)),
      })),

      route(contract.botIssues.remove, async ({ actor, params }) => {
        await service.remove(actor, params.id, params.issueId)
        return {}
      }),

      route(contract.botIssues.listEvents, async ({ actor, params }) => ({
        issueEvents: (await service.listEvents(actor, params.id, params.issueId)).map(toEvent),
      })),
    ],
  }
}

function toIssue(row: IssueRow): WireIssue {
  return {
    id: row.id,
    code: row.code,
    category: row.category,
    title: row.title,
    description: row.description,
    groupedData: decodeJson(row.grouped_data),
    eventsCount: row.events_count,
    resolutionLink: null,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  }
}

function toEvent(row: IssueEventRow): WireEvent {
  return { id: row.id, createdAt: row.created_at, data: decodeJson(row.data) }
}
