import { ApiError } from '@botstead/contract'
import {
  createCounter,
  createHistogram,
  type Family,
  type Metric,
} from '../../platform/telemetry/metrics.js'
import type { Load } from '../../platform/workers/gate.js'

/** Seconds. */
const searchBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export type SearchMeter = ReturnType<typeof createSearchMeter>

/** Counts searches and indexed files by outcome. */
export function createSearchMeter() {
  const searches = createCounter({
    name: 'botstead_searches_total',
    help: 'Searches, by how they ended; degraded ones were answered with less than all there is.',
    label: 'outcome',
    values: ['ok', 'degraded', 'refused', 'timeout', 'abandoned', 'failed'],
  })
  const seconds = createHistogram({
    name: 'botstead_search_duration_seconds',
    help: 'How long answered searches took, waiting for their turn included.',
    bounds: searchBounds,
  })
  const indexed = createCounter({
    name: 'botstead_indexing_total',
    help: 'Files that were indexed, that failed, or that were replaced or deleted meanwhile.',
    label: 'outcome',
    values: ['indexed', 'failed', 'superseded'],
  })

  return {
    /**
     * Runs a search and counts it.
     * @param signal is aborted when the caller disconnects
     */
    async measure<T extends { degraded: readonly string[] }>(
      search: () => Promise<T>,
      signal: AbortSignal | undefined,
    ): Promise<T> {
      const start = performance.now()
      try {
        const result = await search()
        seconds.record((performance.now() - start) / 1000)
        searches.add(result.degraded.length > 0 ? 'degraded' : 'ok')
        return result
      } catch (error) {
        searches.add(signal?.aborted ? 'abandoned' : outcomeOf(error))
        throw error
      }
    },
    /** Counts an indexed file. */
    indexed: indexed.add,
    all: [searches, seconds, indexed] satisfies Metric[],
  }
}

function outcomeOf(error: unknown): 'refused' | 'timeout' | 'failed' {
  if (!(error instanceof ApiError)) return 'failed'
  if (error.type === 'OperationTimeout') return 'timeout'
  return error.status < 500 ? 'refused' : 'failed'
}

/** The number of running and waiting tasks where concurrency is limited. */
export function loadMetric(name: string, help: string, read: () => Load): Metric {
  return {
    collect() {
      const { running, waiting } = read()
      const family: Family = {
        name,
        help,
        type: 'gauge',
        samples: [
          { labels: { state: 'running' }, value: running },
          { labels: { state: 'waiting' }, value: waiting },
        ],
      }
      return [family]
    },
  }
}
