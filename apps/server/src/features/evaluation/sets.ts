import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { notFound } from '../../domain/refusals.js'
import { isoTime } from '../../platform/clock.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Tx } from '../../platform/db/schema.js'
import type { Remember } from '../../platform/idempotency/store.js'
import type { EvaluationDeps } from './dependencies.js'
import * as store from './sets-store.js'
import type { SetRow } from './table.js'

type Paging = Query<typeof contract.evaluationSets.list>

/** Maximum number of sets of a bot. */
const maxSets = 200

export type SetsService = ReturnType<typeof createSetsService>

/** Sets of questions whose right answers are known. */
export function createSetsService(deps: EvaluationDeps) {
  const { db, run, dialect, clock, ids, pager, limits } = deps

  const now = () => isoTime(clock.now())

  async function require(actor: BotActor, id: string): Promise<SetRow> {
    requireBot(actor)
    const row = await store.findSet(db, actor.botId, id)
    if (row === undefined) throw notFound('evaluation set', id, 'in this bot')
    return row
  }

  /** As `require`, locked for the rest of the transaction. */
  async function lock(tx: Tx, actor: BotActor, id: string): Promise<SetRow> {
    requireBot(actor)
    const row = await store.lockSet(tx, actor.botId, id)
    if (row === undefined) throw notFound('evaluation set', id, 'in this bot')
    return row
  }

  async function create(
    actor: BotActor,
    { name }: Body<typeof contract.evaluationSets.create>,
    remember: Remember<SetRow>,
  ): Promise<SetRow> {
    requireBot(actor)
    const { botId } = actor
    const at = now()
    const row = {
      id: ids.next('evalset'),
      bot_id: botId,
      name,
      cases: 0,
      created_at: at,
      updated_at: at,
    }
    return await withOwnName(name, () =>
      run(async (tx) => {
        const { sets } = await store.countOfBot(tx, botId)
        if (sets >= maxSets) {
          throw new ApiError(
            'QuotaExceeded',
            `A bot has at most ${maxSets} evaluation sets: delete one first.`,
            { metadata: { quota: 'evaluationSets', used: sets, allowed: maxSets } },
          )
        }
        await store.insertSet(tx, row)
        await remember?.(tx, row)
        return row
      }),
    )
  }

  async function list(actor: BotActor, { nextToken, pageSize }: Paging): Promise<Page<SetRow>> {
    requireBot(actor)
    const page = pager.page({
      operation: 'listEvaluationSets',
      scope: actor.botId,
      sort: 'created_at',
      direction: 'desc',
      nextToken,
      pageSize,
    })
    return await store.pageSets(db, actor.botId, page)
  }

  async function rename(actor: BotActor, id: string, name: string): Promise<SetRow> {
    return await withOwnName(name, () =>
      run(async (tx) => {
        const row = await lock(tx, actor, id)
        const patch = { name, updated_at: now() }
        await store.patchSet(tx, id, patch)
        return { ...row, ...patch }
      }),
    )
  }

  async function remove(actor: BotActor, id: string): Promise<void> {
    await run(
      async (tx) => {
        await lock(tx, actor, id)
        await store.deleteSet(tx, id)
        await deps.removeLater(tx, { botId: actor.botId, setId: id })
      },
      { mayUseReserve: true },
    )
  }

  async function withOwnName<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!dialect.isUniqueViolation(error)) throw error
      throw new ApiError('AlreadyExists', `The bot has an evaluation set with the name ${name}.`, {
        cause: error,
        metadata: { in: 'body', field: 'name' },
      })
    }
  }

  /** @throws ApiError `QuotaExceeded` if a bot would have too many cases with these */
  async function requireRoom(tx: Tx, botId: string, added: number): Promise<void> {
    const { cases } = await store.countOfBot(tx, botId)
    const allowed = limits.evaluationCases
    if (cases + added <= allowed) return
    throw new ApiError(
      'QuotaExceeded',
      `A bot has at most ${allowed} evaluation cases (BOTSTEAD_EVALUATION_CASES): it has ${cases}, and ${added} more do not fit.`,
      { metadata: { quota: 'evaluationCases', used: cases, asked: added, allowed } },
    )
  }

  return { require, lock, create, list, rename, remove, requireRoom }
}

/** @throws ApiError `Forbidden` for an integration: evaluation is for the bot and its workspace */
function requireBot({ caller }: BotActor): void {
  if (caller.type !== 'integration') return
  throw new ApiError('Forbidden', 'Evaluation sets belong to the bot: integrations have no access.')
}
