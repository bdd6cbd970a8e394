import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean, decodeJson } from '../../../platform/db/columns.js'
import type { Feature, FeatureWith } from '../../feature.js'
import type { ReplayFilter } from './filter.js'
import { createReplaysService, type ReplaysDeps, replayJob } from './service.js'
import { createReplayHandler, type StepsDeps } from './steps.js'
import * as store from './store.js'

export { deleteOfWorkspace, deleteSomeOfBot, moveReplays } from './store.js'

const { deliveryReplays } = contract

interface Deps extends ReplaysDeps, Omit<StepsDeps, 'queue' | 'bots'> {
  clock: Clock
  /** Milliseconds for which replays are kept after their end. */
  retentionMs: number
}

const rowsAtOnce = 500

/** Replays of many deliveries, which run as jobs. */
export function createReplays(
  deps: Deps,
): Pick<FeatureWith<'routes' | 'jobs' | 'sweeps'>, 'routes' | 'jobs' | 'sweeps'> {
  const sweep: NonNullable<Feature['sweeps']>[number] = (tx) =>
    store.deleteOld(tx, isoTime(deps.clock.now() - deps.retentionMs), rowsAtOnce)
  return {
    routes: replaysRoutes(deps),
    jobs: { [replayJob]: createReplayHandler(deps) },
    sweeps: [sweep],
  }
}

function replaysRoutes(deps: ReplaysDeps): Route[] {
  const service = createReplaysService(deps)
  return [
    route(deliveryReplays.create, async ({ actor, body, once }) =>
      once<store.ReplayRow>(
        (remember) => service.create(actor, body, remember),
        (row) => ({ replay: toReplay(row) }),
      ),
    ),

    route(deliveryReplays.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { replays: page.rows.map(toReplay), meta: toPageMeta(page) }
    }),

    route(deliveryReplays.get, async ({ actor, params }) => ({
      replay: toReplay(await service.get(actor, params.replayId)),
    })),

    route(deliveryReplays.cancel, async ({ actor, params }) => ({
      replay: toReplay(await service.cancel(actor, params.replayId)),
    })),
  ]
}

type WireReplay = Output<typeof deliveryReplays.get>['replay']

function toReplay(row: store.ReplayRow): WireReplay {
  const { replayed, delivered, failed, canceled } = row
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    createdBy: row.account_id,
    state: row.state,
    filter: decodeJson<ReplayFilter>(row.filter),
    total: row.total,
    totalIsExact: decodeBoolean(row.total_is_exact),
    replayed,
    skipped: row.skipped,
    done: delivered,
    failedAgain: failed,
    canceled,
    waiting: replayed - delivered - failed - canceled,
    ...(row.error !== null && { error: row.error }),
  }
}
