import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/jobs.js'
import { maxTasks } from './confinement.js'
import { processorTimeIn, processorTimesOfTree, starvedMsBetween } from './process-tree.js'

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

it('a process that is new has waited for what the system says, and not since the earlier look', () => {
  const later = new Map([[1, { ranMs: 1, waitedMs: 3, isRunnable: true }]])
  expect(starvedMsBetween(new Map(), later, 2000)).toBe(3)
})

it('the state of a process follows its name, whatever that contains', () => {
  const timeOf = (name: string, state: string) =>
    processorTimeIn('5000000 1000000 3\n', `7 (${name}) ${state} 1 7 7 0 -1 4194560`)
  expect(timeOf('a) R (b', 'S')).toEqual({ ranMs: 5, waitedMs: 1, isRunnable: false })
  expect(timeOf(') S 1\n', 'R')).toEqual({ ranMs: 5, waitedMs: 1, isRunnable: true })
})

it.each(['', '0 0 0\n'])('a system that does not count the time shows none: %j', (schedstat) => {
  expect(processorTimeIn(schedstat, '7 (node) R 1')).toBeUndefined()
})

it.skipIf(!existsSync('/proc/self/schedstat'))(
  'of a program with very many processes, no more are looked at than it may have (needs /proc)',
  async () => {
    const script = `for at in $(seq ${maxTasks + 20}); do sleep 600 & done; echo; wait`
    const shell = spawn('/bin/sh', ['-c', script], { detached: true })
    const { pid } = shell
    if (pid === undefined) throw new Error('no shell')
    onTestFinished(() => void process.kill(-pid, 'SIGKILL'))
    await once(shell.stdout, 'data')
    // Those that have not run yet have no time.
    await eventually(async () => {
      expect((await processorTimesOfTree(pid)).size).toBe(maxTasks)
    })
  },
)
