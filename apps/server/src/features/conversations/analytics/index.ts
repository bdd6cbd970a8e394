import { contract, type Output } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Feature } from '../../feature.js'
import { type AnalyticsDeps, createAnalyticsService, type DayRecord } from './service.js'

type WireRecord = Output<typeof contract.botAnalytics.get>['records'][number]

interface Deps extends AnalyticsDeps {
  queue: Queue
}

/** Name of the nightly job that counts the day before. */
const countJob = 'analytics.count'
const dayMs = 24 * 60 * 60 * 1000
const hourMs = 60 * 60 * 1000
/** So many that the job survives a longer failure, for example of a full disk. */
const maxAttempts = 1000

/** Figures of bots by day. */
export function createAnalytics({ queue, ...deps }: Deps): Feature {
  const service = createAnalyticsService(deps)

  async function enqueue(tx: Tx, runAt: number): Promise<void> {
    const job = { kind: countJob, key: 'all', payload: {}, runAt, maxAttempts, deadlineMs: hourMs }
    await queue.enqueue(tx, job)
  }

  const count: JobHandler = {
    everyMs: dayMs,
    handler: async (_, { signal }) => await service.countAll(signal),
    onDone: async (tx) => await enqueue(tx, service.nextCountAt()),
  }
  return {
    name: 'analytics',
    jobs: { [countJob]: count },
    schedule: async (tx) => await enqueue(tx, deps.clock.now()),
    on: {
      'messages.imported': async (tx, { botId, days }) => await service.recount(tx, botId, days),
    },
    purge: service.purge,
    routes: [
      route(contract.botAnalytics.get, async ({ actor, params, query, signal }) => ({
        records: (await service.list(actor, params.id, query, signal)).map(toRecord),
      })),
    ],
  }
}

const spread = { mean: 0, sd: 0, min: 0, max: 0 }
/** The server calls no language models. */
const noLanguageModels: WireRecord['llm'] = {
  calls: 0,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
  latency: spread,
  tokensPerSecond: spread,
  cost: { sum: 0, ...spread },
}

function toRecord({ day, figures, customEvents }: DayRecord): WireRecord {
  return {
    startDateTimeUtc: `${day}T00:00:00.000Z`,
    endDateTimeUtc: `${day}T23:59:59.999Z`,
    ...figures,
    messages: figures.userMessages,
    customEvents,
    llm: noLanguageModels,
  }
}
