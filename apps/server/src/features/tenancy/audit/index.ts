import { contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { Feature } from '../../feature.js'
import { type AuditServiceDeps, createAuditService } from './service.js'
import { toRecord } from './view.js'

export { type CheckedLog, checkAuditLogs } from './check.js'
export { createReadings } from './readings.js'
export {
  type Act,
  type Acting,
  type AuditDeps,
  actingOf,
  browsing,
  changesBetween,
  fieldsOf,
  recordAct,
  recordIn,
} from './record.js'
export type { Link } from './table.js'
export { toCsvRow } from './view.js'

interface Deps extends Omit<AuditServiceDeps, 'workspaces' | 'accounts'> {
  workspaces: { service: AuditServiceDeps['workspaces'] }
  accounts: { service: AuditServiceDeps['accounts'] }
}

/** The audit log of workspaces. Slices record in it with `recordAct`, in the transactions of their changes. */
export function createAudit(deps: Deps): Feature {
  const service = createAuditService({
    ...deps,
    workspaces: deps.workspaces.service,
    accounts: deps.accounts.service,
  })
  return {
    name: 'audit',
    sweeps: [service.sweep],
    routes: [
      route(contract.audit.list, async ({ actor, params, query }) => {
        const page = await service.list(actor, params.id, query)
        return { records: page.rows.map(toRecord), meta: toPageMeta(page) }
      }),

      route(contract.audit.export, async ({ actor, params, query }) => {
        const isCsv = query.format === 'csv'
        const { open } = await service.export(actor, params.id, query)
        return {
          status: 200,
          headers: {
            'content-type': isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
            'content-disposition': `attachment; filename="audit.${isCsv ? 'csv' : 'jsonl'}"`,
            'cache-control': 'no-store',
          },
          open,
        }
      }),
    ],
  }
}
