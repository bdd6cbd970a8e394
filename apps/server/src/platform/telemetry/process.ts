import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Family, Metric } from './metrics.js'

const bytes = (name: string, help: string, value: number): Family => ({
  name,
  help,
  type: 'gauge',
  samples: [{ value }],
})

/** Milliseconds between two samples of the delay of the event loop. */
const resolution = 20

/** Memory, processor time and event loop of this process. */
export function processMetrics(): Metric & Disposable {
  // Monitoring costs fifty wake-ups a second, so it begins with the first request for metrics.
  let delay: IntervalHistogram | undefined

  function eventLoop(): Family[] {
    const { active, idle } = performance.eventLoopUtilization()
    const families: Family[] = [
      {
        name: 'botstead_event_loop_seconds_total',
        help: 'Time that the event loop has worked (active) and waited (idle).',
        type: 'counter',
        samples: [
          { labels: { state: 'active' }, value: active / 1000 },
          { labels: { state: 'idle' }, value: idle / 1000 },
        ],
      },
    ]
    if (delay === undefined) {
      delay = monitorEventLoopDelay({ resolution })
      delay.enable()
      return families
    }
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1000)
    // Before the first sample the histogram reports a meaningless value.
    const known = delay.count > 0 ? delay : undefined
    const at = (percent: number) => late(known?.percentile(percent) ?? 0)
    families.push({
      name: 'botstead_event_loop_delay_seconds',
      help: 'How late the event loop came to its work since these values were last asked for.',
      type: 'gauge',
      samples: [
        { labels: { percentile: '50' }, value: at(50) },
        { labels: { percentile: '99' }, value: at(99) },
        { labels: { percentile: '100' }, value: at(100) },
      ],
    })
    delay.reset()
    return families
  }

  return {
    collect() {
      const memory = process.memoryUsage()
      const { user, system } = process.cpuUsage()
      return [
        bytes('process_resident_memory_bytes', 'Memory of the process.', memory.rss),
        bytes('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', memory.heapUsed),
        bytes('nodejs_external_memory_bytes', 'Memory of buffers and libraries.', memory.external),
        {
          name: 'process_cpu_seconds_total',
          help: 'Processor time of the process, its threads included.',
          type: 'counter',
          samples: [{ value: (user + system) / 1e6 }],
        },
        {
          name: 'process_start_time_seconds',
          help: 'When the process started, in seconds since the Unix epoch.',
          type: 'gauge',
          samples: [{ value: performance.timeOrigin / 1000 }],
        },
        ...eventLoop(),
      ]
    },
    [Symbol.dispose]: () => void delay?.disable(),
  }
}
