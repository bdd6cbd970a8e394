import { deliveryMetrics } from './features/deliveries/index.js'
import type { Foundation } from './foundation.js'
import { jobMetrics } from './platform/jobs/metrics.js'
import { gauge, type Metric } from './platform/metrics/metric.js'
import type { Slices } from './slices.js'
import { version } from './version.js'

/** What the server tells about itself at `/metrics`, beside its requests and its process. */
export function serverMetrics(
  foundation: Foundation,
  slices: Pick<Slices, 'chat' | 'search'>,
): Metric[] {
  return [
    buildInfo(foundation),
    jobMetrics(foundation.queue),
    deliveryMetrics(foundation),
    ...slices.search.metrics,
    gauge(
      { name: 'botstead_chat_listeners', help: 'Open streams of chat users in this process.' },
      () => slices.chat.listening.count(),
    ),
  ]
}

function buildInfo({ config, database }: Foundation): Metric {
  const labels = {
    version,
    node: process.versions.node,
    database: database.dialect.name,
    contents: config.objectStore === undefined ? 'disk' : 's3',
  }
  return {
    collect: () => [
      {
        name: 'botstead_build_info',
        help: 'What runs here; always 1.',
        type: 'gauge',
        samples: [{ labels, value: 1 }],
      },
    ],
  }
}
