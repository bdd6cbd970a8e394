import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { isoTime } from '../../platform/clock.js'
import { encodeJson } from '../../platform/db/columns.js'
import { listFilesByKeys } from '../files/lookup/index.js'
import { invalidLine, type LineTarget, readLines, toLine } from './case-lines.js'
import type { CasesService } from './cases.js'
import type { EvaluationDeps } from './dependencies.js'
import type { SetsService } from './sets.js'
import * as store from './sets-store.js'
import { findContradiction, type StoredTarget } from './targets.js'

type Paging = Query<typeof contract.evaluationSets.export>

const keysAtOnce = 100

export type ExchangeService = ReturnType<typeof createExchangeService>

/** Cases as lines of JSON. */
export function createExchangeService(
  deps: EvaluationDeps & { sets: SetsService; cases: Pick<CasesService, 'page'> },
) {
  const { db, run, clock, ids, sets, cases } = deps

  async function exportCases(actor: BotActor, setId: string, query: Paging) {
    const page = await cases.page(actor, setId, query, 'exportEvaluationSet')
    return { lines: page.rows.map(toLine).join(''), nextToken: page.nextToken }
  }

  /** Adds and changes cases as lines of JSON describe them: all of them or none. */
  async function importCases(
    actor: BotActor,
    setId: string,
    lines: string,
  ): Promise<{ created: number; updated: number }> {
    await sets.require(actor, setId)
    const at = isoTime(clock.now())
    const given = readLines(lines)
    const files = await findFilesOf(
      actor,
      given.flatMap(({ right, wrong }) => [...right, ...wrong]),
    )
    const toStored = (line: number, targets: readonly LineTarget[]) =>
      targets.map(({ file: key, grade, passage }): StoredTarget => {
        const fileId = files.get(key) ?? files.get(evaluationKey(key))
        if (fileId === undefined) {
          throw new ApiError(
            'ReferenceNotFound',
            invalidLine(line, `there is no file ${key}`).message,
            {
              metadata: { in: 'body', field: 'lines', line },
            },
          )
        }
        return { fileId, fileKey: key, grade, ...(passage && { passage }) }
      })
    const rows = given.map(({ line, key, question, right, wrong, note }) => {
      const rights = toStored(line, right)
      const wrongs = toStored(line, wrong)
      const contradiction = findContradiction([...rights, ...wrongs])
      if (contradiction !== undefined) throw invalidLine(line, `the case ${contradiction}`)
      return {
        id: ids.next('evalcase'),
        bot_id: actor.botId,
        set_id: setId,
        key,
        question,
        right_targets: encodeJson(rights),
        wrong_targets: encodeJson(wrongs),
        note,
        created_at: at,
        updated_at: at,
      }
    })
    return await run(async (tx) => {
      await sets.lock(tx, actor, setId)
      const known = await store.findCaseIds(
        tx,
        setId,
        rows.map(({ key }) => key),
      )
      const created = rows.filter(({ key }) => !known.has(key))
      await sets.requireRoom(tx, actor.botId, created.length)
      for (const row of created) await store.insertCase(tx, row)
      for (const { id, key, created_at, ...patch } of rows) {
        const existing = known.get(key)
        if (existing !== undefined) await store.patchCase(tx, existing, patch)
      }
      await store.addToCount(tx, setId, created.length)
      return { created: created.length, updated: rows.length - created.length }
    })
  }

  /** Ids of files by their keys. */
  async function findFilesOf(
    { botId }: BotActor,
    targets: readonly LineTarget[],
  ): Promise<Map<string, string>> {
    const keys = [...new Set(targets.flatMap(({ file }) => [file, evaluationKey(file)]))]
    const found = new Map<string, string>()
    for (let at = 0; at < keys.length; at += keysAtOnce) {
      for (const file of await listFilesByKeys(db, botId, keys.slice(at, at + keysAtOnce))) {
        // The bot's own key precedes the same one of an integration.
        if (file.key_space === '' || !found.has(file.key)) found.set(file.key, file.id)
      }
      // An import may name 80,000 keys.
      await nextTurn()
    }
    return found
  }

  return { exportCases, importCases }
}

/** The key under which `botstead eval` uploads a document. */
function evaluationKey(document: string): string {
  return `eval/${encodeURIComponent(document.toWellFormed())}`
}
