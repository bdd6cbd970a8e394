import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/jobs.js'
import { processorTimesOfTree, starvedMsBetween } from './process-tree.js'

it.skipIf(!existsSync('/proc/self/schedstat'))(
  'the time without a processor is that of all processes below one (needs /proc)',
  async () => {
    // One of them waits always.
    const loops = availableParallelism() + 1
    const startedAt = performance.now()
    const script = `for at in $(seq ${loops}); do while :; do :; done & done; wait`
    const { pid } = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' })
    if (pid === undefined) throw new Error('no shell')
    onTestFinished(() => void process.kill(-pid, 'SIGKILL'))
    const waited = await eventually(async () => {
      const times = [...(await processorTimesOfTree(pid)).values()]
      expect(times.filter(({ isRunnable }) => isRunnable)).toHaveLength(loops)
      const ms = times.reduce((sum, { waitedMs }) => sum + waitedMs, 0)
      expect(ms).toBeGreaterThan(100)
      return ms
    })
    expect(waited).toBeLessThanOrEqual((performance.now() - startedAt) * (loops + 1))
  },
)

it('a process that has ended has no time of a processor', async () => {
  expect(await processorTimesOfTree(99_999_999)).toEqual(new Map())
})

const asleep = (waitedMs: number) => ({ ranMs: 10, waitedMs, isRunnable: false })

it('what a process has waited counts although another one ended meanwhile', () => {
  const earlier = new Map([
    [1, asleep(50)],
    [2, asleep(4000)],
  ])
  const later = new Map([
    [1, asleep(80)],
    [3, asleep(7)],
  ])
  expect(starvedMsBetween(earlier, later, 2000)).toBe(37)
})

it('a wait that goes on counts: all in which a process that can run did not', () => {
  const runnable = (ranMs: number) => new Map([[1, { ranMs, waitedMs: 0, isRunnable: true }]])
  expect(starvedMsBetween(runnable(100), runnable(100), 2000)).toBe(2000)
  expect(starvedMsBetween(runnable(100), runnable(2100), 2000)).toBe(0)
})
