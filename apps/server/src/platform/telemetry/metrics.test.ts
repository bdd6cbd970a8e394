import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readMetrics } from '../../../test/prometheus.js'
import { createHistogram, type Family, gauge, type Metric, renderMetrics } from './metrics.js'
import { processMetrics } from './process.js'

const noErrors = (error: unknown) => {
  throw error
}

describe('metrics as text', () => {
  it('keep every value apart, whatever the labels hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'n', ' ', '}', 'é') }), {
          minLength: 1,
        }),
        async (labels) => {
          const family: Family = {
            name: 'a_metric',
            help: 'Two\nlines \\ and "quotes".',
            type: 'gauge',
            samples: labels.map((a, value) => ({ labels: { a, b: 'x' }, value })),
          }
          const metric: Metric = { collect: () => [family] }
          const series = readMetrics(await renderMetrics([metric], noErrors))
          expect([...series.values()]).toEqual(labels.map((_, at) => at))
        },
      ),
    )
  })

  it('leave out what cannot be measured, and report it', async () => {
    const broken: Metric = { collect: () => Promise.reject(new Error('no database')) }
    const errors: unknown[] = []
    const whole = gauge({ name: 'a_metric', help: 'Any.' }, () => 7)
    const text = await renderMetrics([broken, whole], (error) => errors.push(error))
    expect([...readMetrics(text)]).toEqual([['a_metric', 7]])
    expect(errors).toEqual([new Error('no database')])
  })

  it('count each value in every bucket that it fits into', async () => {
    const bounds = [1, 2, 5]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 8 })), async (values) => {
        const histogram = createHistogram({ name: 'h', help: 'Any.', bounds })
        for (const value of values) histogram.record(value)
        const series = readMetrics(await renderMetrics([histogram], noErrors))
        for (const bound of bounds) {
          const least = values.filter((value) => value <= bound).length
          expect(series.get(`h_bucket{le="${bound}"}`)).toBe(least)
        }
        expect(series.get('h_bucket{le="+Inf"}')).toBe(values.length)
        expect(series.get('h_count')).toBe(values.length)
        expect(series.get('h_sum')).toBe(values.reduce((sum, value) => sum + value, 0))
      }),
    )
  })

  it('include the delay of the event loop from the second time on', async () => {
    using metric = processMetrics()
    const read = async () => readMetrics(await renderMetrics([metric], noErrors))
    const name = 'botstead_event_loop_delay_seconds{percentile="99"}'
    expect((await read()).has(name)).toBe(false)
    expect((await read()).get(name)).toBeGreaterThanOrEqual(0)
  })
})
