import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { watchLoopDelay } from './loop-delay.js'

function holdLoop(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

it('the time in which the event loop is held counts as delay, also just before the end', async () => {
  const startedAt = performance.now()
  const end = watchLoopDelay()
  holdLoop(300)
  await sleep(100)
  holdLoop(300)
  const delayMs = end()
  expect(delayMs).toBeGreaterThanOrEqual(500)
  expect(delayMs).toBeLessThanOrEqual(performance.now() - startedAt)
})
