import { contract, type Output } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { Feature } from '../../feature.js'
import { createOverviewService, type Overview, type OverviewDeps } from './service.js'

/** The state of a workspace in one call. */
export function createOverview(deps: OverviewDeps): Feature {
  const service = createOverviewService(deps)
  return {
    name: 'overview',
    routes: [
      route(contract.overview.get, async ({ actor, query }) =>
        toOverview(await service.get(actor, query.botId)),
      ),

      route(contract.overview.resolveErrors, async ({ actor, params, body }) => {
        await service.resolve(actor, params.errorId, body)
        return {}
      }),

      route(contract.overview.reopenErrors, async ({ actor, params }) => {
        await service.reopen(actor, params.errorId)
        return {}
      }),
    ],
    on: {
      'bot.transferred': service.moveBot,
      'workspace.removed': (tx, { workspaceId }) => service.removeWorkspace(tx, workspaceId),
    },
    sweeps: [service.sweep],
    purge: service.purge,
  }
}

function toOverview(overview: Overview): Output<typeof contract.overview.get> {
  const { deliveries, operator, ...rest } = overview
  const { oldest } = deliveries
  return {
    status: statusOf(overview),
    ...rest,
    deliveries: {
      waiting: deliveries.waiting,
      ...(oldest && {
        oldest: {
          ...oldest.oldest,
          botId: oldest.bot_id,
          ...(oldest.integration !== '' && { integrationAlias: oldest.integration }),
        },
      }),
    },
    ...(operator && { operator }),
  }
}

function statusOf({ counts, operator }: Overview) {
  const isServerFine =
    operator === undefined ||
    (operator.deadJobs === 0 && !operator.disks.some(({ isLow }) => isLow))
  if (counts.botsNeedingAttention > 0 || !isServerFine) return 'attention' as const
  return counts.bots === 0 ? ('empty' as const) : ('ok' as const)
}
