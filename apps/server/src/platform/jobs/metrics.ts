import type { Family, Metric } from '../telemetry/metrics.js'
import type { Queue } from './queue.js'

type Stats = Awaited<ReturnType<Queue['stats']>>

/** The jobs of the database, whichever process works them off. */
export function jobMetrics(queue: Pick<Queue, 'stats'>): Metric {
  return {
    async collect() {
      const kinds = await queue.stats()
      return [counts(kinds), ages(kinds)]
    },
  }
}

function counts(kinds: Stats): Family {
  return {
    name: 'botstead_jobs',
    help: 'Jobs in the database: waiting for their time or a worker, running, or given up (dead).',
    type: 'gauge',
    samples: kinds.flatMap((stats) =>
      (['waiting', 'running', 'dead'] as const).map((state) => ({
        labels: { kind: stats.kind, state },
        value: stats[state],
      })),
    ),
  }
}

function ages(kinds: Stats): Family {
  return {
    name: 'botstead_job_oldest_waiting_seconds',
    help: 'How long the first of the waiting jobs has been due; 0 if none is.',
    type: 'gauge',
    samples: kinds.map(({ kind, oldestWaitingAge }) => ({
      labels: { kind },
      value: oldestWaitingAge / 1000,
    })),
  }
}
