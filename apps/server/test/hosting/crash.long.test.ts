import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeEachEngine } from '../engines.js'
import { existingClient, type ReachableServer } from '../existing-clients.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'
import { deployBot, isRunning, program } from './hosted.js'
import { checkReplies, noting, startTalk } from './talk.js'

const token = 'a-token-for-tests-only'
/** Whether the system ends a program with its server. If not, the next start ends those that outlived the last one. */
const endsWithServer = spawnSync('setpriv', ['--pdeathsig', 'KILL', '--', 'true']).status === 0

/** Waits for processes that share a machine. */
const eventually = <T>(assertion: () => Promise<T> | T) =>
  vi.waitFor(assertion, { timeout: 20_000, interval: 100 })

/** The folders of sockets of all servers of this machine whose process has this id. */
async function foldersOf(pid: number | undefined): Promise<string[]> {
  const homes = (await readdir(tmpdir())).filter((name) => name.startsWith('botstead-'))
  const names = await Promise.all(
    homes.map(async (home) => {
      const inside = await readdir(join(tmpdir(), home)).catch(() => [])
      return inside.map((name) => join(home, name))
    }),
  )
  return names.flat().filter((name) => new RegExp(`/${pid}-\\d+-\\d+$`).test(name))
}

describeEachEngine('deployed code under load', (engine) => {
  it('loses nothing when its programs and then the server are killed', async () => {
    await using place = await createCommandPlace(engine)
    const environment = {
      ...place.environment,
      // The same address after the start that follows.
      PORT: String(await freePort()),
      BOTSTEAD_ADMIN_TOKEN: token,
      BOTSTEAD_JOB_LEASE_MS: '5s',
      LOG_LEVEL: 'error',
    }
    const first = await startServerProcess(environment)
    await using _first = first
    const server = await reach(first.url)
    const { webhookId } = await deployBot(server, noting('1'))
    const stuck = await deployBot(
      server,
      program('if (input.loop) for (;;); return { pid: process.pid }'),
    )
    const { pid: stuckPid } = await stuck.call()
    const talks = await Promise.all([1, 2, 3].map(() => startTalk(server, webhookId)))
    const allReplies = async () =>
      (await Promise.all(talks.map((talk) => talk.replies(server)))).flat()
    const untilRepliedBy = async (isOther: (pid: number) => boolean) =>
      await eventually(async () => {
        const pid = (await allReplies()).map((reply) => reply.pid).find(isOther)
        expect(pid).toBeDefined()
        return Number(pid)
      })

    const quiet = new AbortController()
    const saying = talks.map((talk) => talk.sayMany(server, quiet.signal))
    const one = await untilRepliedBy(() => true)
    process.kill(one, 'SIGKILL')
    const two = await untilRepliedBy((pid) => pid !== one)
    stuck.call({ loop: true }).catch(() => {})
    await first.kill()
    await Promise.all(saying)
    await eventually(() => expect(isRunning(two)).toBe(false))
    if (endsWithServer) await eventually(() => expect(isRunning(stuckPid)).toBe(false))

    await using second = await startServerProcess(environment)
    const again = talks.map((talk) => talk.sayMany(server, quiet.signal))
    await untilRepliedBy((pid) => pid !== one && pid !== two)
    quiet.abort()
    await Promise.all(again)
    await eventually(async () => {
      for (const talk of talks) {
        expect(talk.said.length).toBeGreaterThan(0)
        // Only what was being answered when a process was killed may be answered again.
        expect(checkReplies(talk.said, await talk.replies(server))).toBeLessThanOrEqual(2)
      }
    })
    await eventually(() => expect(isRunning(stuckPid)).toBe(false))
    await eventually(async () => expect(await foldersOf(first.child.pid)).toEqual([]))
    expect(await foldersOf(second.child.pid)).toHaveLength(1)
    expect(await second.stop()).toBe(0)
    expect(await foldersOf(second.child.pid)).toEqual([])
  }, 400_000)
})

/** A limit of a process that runs, in the words of `prlimit` of util-linux. */
function limit(pid: number | undefined, resource: string): boolean {
  return spawnSync('prlimit', ['--pid', String(pid), resource]).status === 0
}

/** The limit of open files at which a process that runs can open so many more. */
async function limitAfterFree(pid: number | undefined, free: number): Promise<number> {
  const open = new Set((await readdir(`/proc/${pid}/fd`)).map(Number))
  let number = 0
  for (let found = 0; found < free; number += 1) if (!open.has(number)) found += 1
  return number
}

describe('a server with too many open files', () => {
  it.skipIf(!limit(process.pid, '--core'))(
    'a server that can neither start nor clear a program, because too many files are open, goes on (needs prlimit)',
    async () => {
      await using place = await createCommandPlace()
      await using running = await startServerProcess({
        ...place.environment,
        BOTSTEAD_ADMIN_TOKEN: token,
        BOTSTEAD_HOSTING_IDLE: '1s',
        LOG_LEVEL: 'error',
      })
      const server = await reach(running.url)
      const { call, logs } = await deployBot(server, program('return { pid: process.pid }'))
      const { pid } = await call()
      const other = await deployBot(
        server,
        program('if (input.hang) await new Promise(() => {}); return { pid: process.pid }'),
      )
      const { pid: otherPid } = await other.call()
      const hanging = expect(other.call({ hang: true })).rejects.toThrow(/SIGKILL/)
      await eventually(() => expect(isRunning(pid)).toBe(false))
      // One for the connection of this request, and too few for a program.
      const all = await limitAfterFree(running.child.pid, 2)
      expect(limit(running.child.pid, `--nofile=${all}:4096`)).toBe(true)
      await expect(call()).rejects.toThrow(/EMFILE/)
      // Without any, what the program leaves behind cannot be removed now.
      expect(limit(running.child.pid, '--nofile=8:4096')).toBe(true)
      process.kill(Number(otherPid), 'SIGKILL')
      await hanging
      expect(limit(running.child.pid, '--nofile=4096:4096')).toBe(true)
      const again = await eventually(async () => await call())
      expect(again.pid).not.toBe(pid)
      expect(running.child.exitCode).toBe(null)
      expect(await logs()).toContainEqual(expect.stringContaining('EMFILE'))
      expect(await running.stop()).toBe(0)
      expect(await foldersOf(running.child.pid)).toEqual([])
    },
  )
})

async function reach(url: string): Promise<ReachableServer> {
  const { workspaces } = await existingClient({ url, token, workspaceId: '' }).listWorkspaces({})
  return { url, token, workspaceId: workspaces[0]?.id ?? '' }
}
