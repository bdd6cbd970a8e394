import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { fieldError, notFound } from '../../domain/refusals.js'
import { bound } from '../../platform/bound.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson, encodeJson } from '../../platform/db/columns.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Remember } from '../../platform/idempotency/store.js'
import type { EvaluationDeps } from './dependencies.js'
import type { SetsService } from './sets.js'
import * as store from './sets-store.js'
import type { CaseRow } from './table.js'
import {
  type ResolvedTarget,
  requireConsistent,
  resolveTargets,
  type StoredTarget,
  toTargets,
} from './targets.js'

type NewCase = Body<typeof contract.evaluationCases.create>
type CasePatch = Body<typeof contract.evaluationCases.update>
type Paging = Query<typeof contract.evaluationCases.list>

/** A case with the current objects of its targets. */
export interface ResolvedCase {
  row: CaseRow
  right: ResolvedTarget[]
  wrong: ResolvedTarget[]
}

export type CasesService = ReturnType<typeof createCasesService>

interface CasesDeps extends EvaluationDeps {
  sets: SetsService
}

/** The cases of evaluation sets. */
export function createCasesService(deps: CasesDeps) {
  return bound(deps, {
    add: addCase,
    list: listCases,
    page: pageCases,
    update: updateCase,
    remove: removeCase,
  })
}

async function addCase(
  deps: CasesDeps,
  actor: BotActor,
  setId: string,
  { question, right, wrong = [], note = '', key }: NewCase,
  remember: Remember<ResolvedCase>,
): Promise<ResolvedCase> {
  const { sets, clock, db, ids, run, dialect } = deps
  await sets.require(actor, setId)
  requireQuestion(question)
  const at = isoTime(clock.now())
  const scope = { botId: actor.botId, now: at }
  const rights = await toTargets(db, scope, right, { field: 'right', known: [] })
  const wrongs = await toTargets(db, scope, wrong, { field: 'wrong', known: [] })
  requireConsistent([...rights, ...wrongs])
  const row = {
    id: ids.next('evalcase'),
    bot_id: actor.botId,
    set_id: setId,
    key: key ?? null,
    question,
    right_targets: encodeJson(rights),
    wrong_targets: encodeJson(wrongs),
    note,
    created_at: at,
    updated_at: at,
  }
  const [made] = await resolveCases(deps, actor, [row])
  if (made === undefined) throw new Error('A case that was resolved is returned')
  try {
    await run(async (tx) => {
      await sets.lock(tx, actor, setId)
      await sets.requireRoom(tx, actor.botId, 1)
      await store.insertCase(tx, row)
      await store.addToCount(tx, setId, 1)
      await remember?.(tx, made)
    })
  } catch (error) {
    if (!dialect.isUniqueViolation(error)) throw error
    throw new ApiError('AlreadyExists', `The set has a case with the key ${key}.`, {
      cause: error,
      metadata: { in: 'body', field: 'key' },
    })
  }
  return made
}

async function listCases(
  deps: CasesDeps,
  actor: BotActor,
  setId: string,
  query: Paging,
): Promise<Page<ResolvedCase>> {
  const { rows, nextToken } = await pageCases(deps, actor, setId, query, 'listEvaluationCases')
  return { rows: await resolveCases(deps, actor, rows), nextToken }
}

async function pageCases(
  { sets, pager, db }: CasesDeps,
  actor: BotActor,
  setId: string,
  { nextToken, pageSize }: Paging,
  operation: string,
): Promise<Page<CaseRow>> {
  await sets.require(actor, setId)
  const request = pager.page({
    operation,
    scope: `${actor.botId} ${setId}`,
    sort: 'id',
    direction: 'asc',
    nextToken,
    pageSize,
  })
  return await store.pageCases(db, setId, request)
}

async function resolveCases(
  { db, clock }: CasesDeps,
  { botId }: BotActor,
  rows: readonly CaseRow[],
): Promise<ResolvedCase[]> {
  const targets = rows.map(({ right_targets, wrong_targets }) => ({
    right: decodeJson<StoredTarget[]>(right_targets),
    wrong: decodeJson<StoredTarget[]>(wrong_targets),
  }))
  const all = targets.flatMap(({ right, wrong }) => [...right, ...wrong])
  const resolved = await resolveTargets(db, { botId, now: isoTime(clock.now()) }, all)
  let begin = 0
  return rows.map((row, index) => {
    const { right = [], wrong = [] } = targets[index] ?? {}
    const middle = begin + right.length
    const end = middle + wrong.length
    const each = {
      row,
      right: resolved.slice(begin, middle),
      wrong: resolved.slice(middle, end),
    }
    begin = end
    return each
  })
}

async function updateCase(
  deps: CasesDeps,
  actor: BotActor,
  setId: string,
  id: string,
  { question, right, wrong, note }: CasePatch,
): Promise<ResolvedCase> {
  const { sets, clock, run } = deps
  await sets.require(actor, setId)
  if (question !== undefined) requireQuestion(question)
  const at = isoTime(clock.now())
  const row = await run(async (tx) => {
    await sets.lock(tx, actor, setId)
    const current = await store.lockCase(tx, setId, id)
    if (current === undefined) throw notFound('case', id, 'in this evaluation set')
    const before = {
      right: decodeJson<StoredTarget[]>(current.right_targets),
      wrong: decodeJson<StoredTarget[]>(current.wrong_targets),
    }
    const known = [...before.right, ...before.wrong]
    const scope = { botId: actor.botId, now: at }
    const rights = right
      ? await toTargets(tx, scope, right, { field: 'right', known })
      : before.right
    const wrongs = wrong
      ? await toTargets(tx, scope, wrong, { field: 'wrong', known })
      : before.wrong
    requireConsistent([...rights, ...wrongs])
    const patch = {
      ...(question !== undefined && { question }),
      ...(note !== undefined && { note }),
      right_targets: encodeJson(rights),
      wrong_targets: encodeJson(wrongs),
      updated_at: at,
    }
    await store.patchCase(tx, id, patch)
    return { ...current, ...patch }
  })
  const [changed] = await resolveCases(deps, actor, [row])
  if (changed === undefined) throw new Error('A case that was resolved is returned')
  return changed
}

async function removeCase(
  { run, sets }: CasesDeps,
  actor: BotActor,
  setId: string,
  id: string,
): Promise<void> {
  await run(
    async (tx) => {
      await sets.lock(tx, actor, setId)
      if ((await store.lockCase(tx, setId, id)) === undefined) {
        throw notFound('case', id, 'in this evaluation set')
      }
      await store.deleteCase(tx, id)
      await store.addToCount(tx, setId, -1)
    },
    { mayUseReserve: true },
  )
}

function requireQuestion(question: string): void {
  if (question.trim() !== '') return
  throw fieldError('body.question', 'must have more than white space.')
}
