import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { encodeBoolean, encodeJson, storableText } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { Meter } from '../../tenancy/metering/index.js'
import * as store from './store.js'

type JsonMap = Record<string, unknown>
type RunsQuery = Query<typeof contract.actions.listRuns>

export interface ActionRunsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  log: Log
  pager: Pager
  bots: Pick<BotsService, 'requireIn' | 'holdAnywhere'>
  meter: Pick<Meter, 'count'>
  /** Milliseconds for which runs are kept. */
  retentionMs: number
}

/** A run of an action. */
interface NewRun {
  botId: string
  alias: string
  /** Name of the integration. */
  integration: string
  /** Name of the action, without the alias. */
  action: string
  input: JsonMap
}

/** The result of a run. */
type Outcome = { output: JsonMap; cached: boolean }

/** Characters of JSON that are kept of an input or an output. */
const maxLength = 190_000
const maxReasonLength = 2000
const sweptAtOnce = 500

export type ActionRuns = ReturnType<typeof createActionRuns>

/** Records the actions that integrations ran, with their results. */
export function createActionRuns(deps: ActionRunsDeps) {
  const { db, run, clock, ids, log } = deps

  async function write(
    { botId, input, ...about }: NewRun,
    startedAt: number,
    outcome: Outcome | { error: string },
  ): Promise<void> {
    const failed = 'error' in outcome
    const given = shortened(input)
    const output = failed ? undefined : shortened(outcome.output)
    const row: store.RunRow = {
      id: ids.next('action'),
      bot_id: botId,
      ...about,
      created_at: isoTime(startedAt),
      input: given.text,
      input_truncated: given.truncated,
      output: output?.text ?? null,
      output_truncated: output?.truncated ?? 0,
      cached: encodeBoolean(!failed && outcome.cached),
      error: failed ? storableText(outcome.error.slice(0, maxReasonLength)) : null,
      duration_ms: Math.max(0, clock.now() - startedAt),
    }
    try {
      await run(async (tx) => {
        // The rows of a bot that was deleted meanwhile may be deleted already.
        if (!(await deps.bots.holdAnywhere(tx, botId))) return
        await store.insertRun(tx, row)
        deps.meter.count(tx, botId, 'action_calls')
      })
    } catch (err) {
      // The action was run; a failure to record it must not fail the call.
      log.warn({ err, botId }, 'the run of an action could not be stored')
    }
  }

  return {
    /** Runs the work and records the result. */
    async record(about: NewRun, work: () => Promise<Outcome>): Promise<Outcome> {
      const startedAt = clock.now()
      try {
        const outcome = await work()
        await write(about, startedAt, outcome)
        return outcome
      } catch (error) {
        // A call that was refused before the integration was called is not a run.
        if (error instanceof ApiError && error.type !== 'Runtime') throw error
        await write(about, startedAt, { error: error instanceof Error ? error.message : '' })
        throw error
      }
    },

    /** Newest first. */
    async page(
      actor: WorkspaceActor,
      botId: string,
      { nextToken, pageSize, ...filter }: RunsQuery,
    ): Promise<Page<store.RunRow>> {
      await deps.bots.requireIn(actor, botId)
      const page = deps.pager.page({
        operation: 'listActionRuns',
        scope: botId,
        filter,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      return await store.pageRuns(
        db,
        botId,
        {
          integration: filter.integrationName,
          from: timeOf('timestampFrom', filter.timestampFrom, 'beginning'),
          until: timeOf('timestampUntil', filter.timestampUntil, 'end'),
        },
        page,
      )
    },

    /** Deletes some of the expired runs; returns how many. */
    async sweep(tx: Tx): Promise<number> {
      return await store.deleteOld(tx, isoTime(clock.now() - deps.retentionMs), sweptAtOnce)
    },

    /** Deletes the rows of a deleted bot. */
    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeOf(tx, botId, limit))
    },
  }
}

/** Limits the length of JSON: beyond it, only the beginning is kept, as text. */
function shortened(map: JsonMap): { text: string; truncated: 0 | 1 } {
  const text = encodeJson(map)
  if (text.length <= maxLength) return { text, truncated: 0 }
  return { text: encodeJson({ beginning: text.slice(0, maxLength) }), truncated: 1 }
}
