import Fastify from 'fastify'
import { afterEach, expect, it, vi } from 'vitest'
import { mountMetrics } from './metrics.js'

afterEach(() => vi.restoreAllMocks())

it('metrics that take long are not collected again for those who ask meanwhile', async () => {
  await using app = Fastify()
  let finish = (_: string) => {}
  const render = vi.fn(
    () =>
      new Promise<string>((resolve) => {
        finish = resolve
      }),
  )
  const admitUnmatched = () => {}
  mountMetrics(app, { admitUnmatched }, { access: 'public', token: undefined }, render)
  const first = app.inject('/metrics')
  await vi.waitFor(() => expect(render).toHaveBeenCalledTimes(1))
  const later = performance.now() + 10_000
  vi.spyOn(performance, 'now').mockReturnValue(later)
  const second = app.inject('/metrics')
  finish('some 1\n')
  expect([(await first).body, (await second).body]).toEqual(['some 1\n', 'some 1\n'])
  expect(render).toHaveBeenCalledTimes(1)
})
