import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { programPath } from '../../../test/programs.js'

/** Starts a process that has a pool; gives it and the id of its worker. */
async function startHost(mode: 'idle' | 'loop') {
  const host = spawn(process.execPath, [programPath('pool-host'), mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(host, 'exit')
  const [output] = await once(host.stdout, 'data')
  return { host, exited, worker: Number(String(output)) }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('an idle worker does not keep its server alive and ends with it', async () => {
  const { exited, worker } = await startHost('idle')
  expect(await exited).toEqual([0, null])
  await vi.waitFor(() => expect(isRunning(worker)).toBe(false))
})

test('a worker in an endless task ends when its server is killed', async () => {
  const { host, exited, worker } = await startHost('loop')
  host.kill('SIGKILL')
  await exited
  await vi.waitFor(() => expect(isRunning(worker)).toBe(false))
})
