import { ApiError, type Body, type contract, maxCounted, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { noReference, notFound } from '../../../domain/refusals.js'
import { covers } from '../../../domain/rights.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import { recordAct } from '../../tenancy/audit/index.js'
import { holdWorkspace } from '../../tenancy/workspaces/index.js'
import { countOfReceivers } from '../listing-store.js'
import { createSelection, type SelectionDeps } from '../selection.js'
import { type ReplayFilter, rangeOf, type StoredFilter, statusesOf } from './filter.js'
import * as store from './store.js'

/** Kind of the job that replays; the key is the id of the replay. */
export const replayJob = 'deliveries.replay'

/** Replays of a workspace that may run at a time. */
const maxRunning = 10
/** Failures of the server for a while, such as a full disk, must not end a replay. */
export const maxAttempts = 1000

export interface ReplaysDeps extends SelectionDeps {
  bots: SelectionDeps['bots'] & Pick<BotsService, 'hold'>
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  pager: Pager
  queue: Pick<Queue, 'enqueue'>
}

type NewReplay = Body<typeof contract.deliveryReplays.create>
type ListQuery = Query<typeof contract.deliveryReplays.list>

/** Starts, lists and cancels replays; the job makes their steps. */
export function createReplaysService(deps: ReplaysDeps) {
  const { db, run, clock, ids, pager, queue } = deps
  const { botsOf, receiversOf } = createSelection(deps)

  async function totalOf(
    filter: ReplayFilter,
    botIds: readonly string[],
    now: string,
  ): Promise<{ total: number; isExact: boolean }> {
    const statuses = statusesOf(filter)
    if (filter.ids !== undefined) {
      const given = await store.listGiven(db, filter.ids, botIds, statuses)
      return { total: given.length, isExact: true }
    }
    const receivers = await receiversOf(botIds, filter)
    const listed = { ...filter, ...rangeOf(filter, now), statuses }
    const bounds = { max: maxCounted, maxScanned: maxCounted }
    const counts = Object.values(await countOfReceivers(db, receivers, listed, bounds))
    return {
      total: counts.reduce((sum, { count }) => sum + count, 0),
      isExact: counts.every(({ isExact }) => isExact),
    }
  }

  async function requireReplay(actor: WorkspaceActor, id: string): Promise<store.ReplayRow> {
    const row = await store.findReplay(db, id)
    if (row?.workspace_id === actor.workspaceId && isVisible(actor, row)) return row
    throw notFound('replay', id, 'in this workspace')
  }

  return {
    async create(
      actor: WorkspaceActor,
      filter: NewReplay,
      remember: Remember<store.ReplayRow>,
    ): Promise<store.ReplayRow> {
      const { ids: given, status, ...narrowing } = filter
      if (given !== undefined && Object.keys(narrowing).length > 0) {
        throw new ApiError(
          'InvalidPayload',
          'body.ids must not be combined with other filters than status.',
        )
      }
      const now = isoTime(clock.now())
      const botIds = await botsOf(actor, filter.botId, 'body.botId')
      const { total, isExact } = await totalOf(filter, botIds, now)
      const row: store.ReplayRow = {
        id: ids.next('replay'),
        workspace_id: actor.workspaceId,
        bot_id: filter.botId ?? null,
        account_id: actor.accountId,
        filter: encodeJson({ ...filter, bots: actor.rights.bots } satisfies StoredFilter),
        state: 'running',
        total,
        total_is_exact: encodeBoolean(isExact),
        replayed: 0,
        skipped: 0,
        delivered: 0,
        failed: 0,
        canceled: 0,
        position: null,
        is_at_end: encodeBoolean(false),
        error: null,
        created_at: now,
        updated_at: now,
        ended_at: null,
      }
      return await run(async (tx) => {
        await holdWorkspace(tx, actor)
        if (filter.botId !== undefined && !(await deps.bots.hold(tx, actor, filter.botId))) {
          throw noReference('body.botId', 'bot', filter.botId, 'in this workspace')
        }
        if ((await store.countRunning(tx, actor.workspaceId)) >= maxRunning) {
          throw new ApiError(
            'LimitExceeded',
            `At most ${maxRunning} replays of a workspace run at a time.`,
          )
        }
        await store.insertReplay(tx, row)
        await queue.enqueue(tx, {
          kind: replayJob,
          key: row.id,
          payload: { replayId: row.id },
          maxAttempts,
        })
        const changes = { botId: { to: row.bot_id }, total: { to: total } }
        recordAct(deps, tx, actor, { resourceId: row.id, changes })
        await remember?.(tx, row)
        return row
      })
    },

    async list(
      { workspaceId, rights }: WorkspaceActor,
      { nextToken, pageSize }: ListQuery,
    ): Promise<Page<store.ReplayRow>> {
      const page = pager.page({
        operation: 'listDeliveryReplays',
        scope: workspaceId,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const { rows, ...rest } = await store.pageReplays(db, workspaceId, page)
      return { ...rest, rows: rows.filter((row) => isVisible({ rights }, row)) }
    },

    get: requireReplay,

    async cancel(actor: WorkspaceActor, id: string): Promise<store.ReplayRow> {
      await requireReplay(actor, id)
      const now = isoTime(clock.now())
      await run(
        async (tx) => {
          const row = await store.lockReplay(tx, id)
          if (row?.state !== 'running') return
          await store.patchReplay(tx, id, { state: 'canceled', ended_at: now, updated_at: now })
          await store.deleteOpen(tx, id)
          recordAct(deps, tx, actor, { resourceId: id })
        },
        { mayUseReserve: true },
      )
      return await requireReplay(actor, id)
    },
  }
}

/** Whether a member may see all bots of which a replay repeats deliveries. */
function isVisible(
  { rights }: Pick<WorkspaceActor, 'rights'>,
  { bot_id: botId, filter }: store.ReplayRow,
): boolean {
  if (botId !== null) return covers(rights, { kind: 'only', botId })
  return covers(rights, decodeJson<StoredFilter>(filter).bots ?? { kind: 'all' })
}
