import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/jobs.js'
import { waitedBetween, waitsOfTree } from './process-tree.js'

it.skipIf(!existsSync('/proc/self/schedstat'))(
  'the time that processes wait for a processor is that of all below one (needs /proc)',
  async () => {
    // One of them waits always.
    const loops = availableParallelism() + 1
    const startedAt = performance.now()
    const script = `for at in $(seq ${loops}); do while :; do :; done & done; wait`
    const { pid } = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' })
    if (pid === undefined) throw new Error('no shell')
    onTestFinished(() => void process.kill(-pid, 'SIGKILL'))
    const waited = await eventually(async () => {
      const ms = waitedBetween(new Map(), await waitsOfTree(pid))
      expect(ms).toBeGreaterThan(100)
      return ms
    })
    expect(waited).toBeLessThanOrEqual((performance.now() - startedAt) * (loops + 1))
  },
)

it('a process that has ended does not wait for a processor', async () => {
  expect(await waitsOfTree(99_999_999)).toEqual(new Map())
})

it('what a process has waited counts although another one ended meanwhile', () => {
  const earlier = new Map([
    [1, 50],
    [2, 4000],
  ])
  const later = new Map([
    [1, 80],
    [3, 7],
  ])
  expect(waitedBetween(earlier, later)).toBe(37)
})
