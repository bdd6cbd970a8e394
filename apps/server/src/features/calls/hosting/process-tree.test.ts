import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/jobs.js'
import { waitedMsOfTree } from './process-tree.js'

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
      const ms = await waitedMsOfTree(pid)
      expect(ms).toBeGreaterThan(100)
      return ms
    })
    expect(waited).toBeLessThanOrEqual((performance.now() - startedAt) * (loops + 1))
  },
)

it('a process that has ended does not wait for a processor', async () => {
  expect(await waitedMsOfTree(99_999_999)).toBe(0)
})
