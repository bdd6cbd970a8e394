import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
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

/** Runs a program that may open few files, in a process group of its own; gives its output and how it ended. */
async function runStarved(program: string) {
  const words = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, programPath(program)]
  const host = spawn('/bin/sh', words, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const [output, exit] = await Promise.all([text(host.stdout), once(host, 'exit')])
  return { output, exit }
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

test('a worker that cannot start, because too many files are open, fails its task only', async () => {
  const { output, exit } = await runStarved('starved-host')
  expect(exit).toEqual([0, null])
  expect(JSON.parse(output)).toEqual({
    starved: expect.stringMatching(/^WorkerExitError: .*EMFILE/),
    ended: expect.stringContaining('EMFILE'),
    size: 0,
  })
})
