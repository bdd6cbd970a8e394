import { expect, it, vi } from 'vitest'
import { createTestClock } from '../../../../test/harness.js'
import { createLog } from '../../../platform/telemetry/log.js'
import { createRunningTime } from './running.js'

it('stores the time of many in parts and an order, and what fails later', async () => {
  const clock = createTestClock()
  const stored = new Map<string, number>()
  const parts: string[][] = []
  let fails = 1
  const running = createRunningTime({
    clock,
    timers: clock,
    log: await createLog({ level: 'silent' }),
    add: async (times) => {
      parts.push(times.map(({ botId }) => botId))
      if (parts.length === 2 && fails-- > 0) throw new Error('The disk is full')
      for (const { botId, ms } of times) stored.set(botId, (stored.get(botId) ?? 0) + ms)
    },
  })
  await clock.hold(async () => {
    running.start()
    const ids = Array.from({ length: 250 }, (_, at) => `bot${String(at).padStart(3, '0')}`)
    const ends = ids.toReversed().map((id) => running.begin(id, 'listener_time'))
    clock.advance(10_000)
    await vi.waitFor(() => expect(parts).toHaveLength(2))
    expect(parts.flat()).toEqual(ids.slice(0, 200))
    clock.advance(5000)
    for (const end of ends) end()
    await running.stop()
    expect([...stored].sort()).toEqual(ids.map((id) => [id, 15_000]))
    expect(Math.max(...parts.map(({ length }) => length))).toBe(100)
  })
})
