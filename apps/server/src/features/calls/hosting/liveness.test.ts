import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../../test/manual-time.js'
import { createInstance, type Instance } from './instance.js'
import { createLiveness } from './liveness.js'
import type { Program } from './program.js'

const hosted = {
  id: 'deployment',
  workspaceId: 'workspace',
  owner: { type: 'bot', id: 'bot' },
  secrets: {},
  isSuspended: false,
} as const

/** A program that responds to one of the questions, and waits for a processor for so many milliseconds of each. */
async function open({ waitsMs, respondsTo }: { waitsMs: number; respondsTo?: number }) {
  const clock = new ManualTime()
  let asked = 0
  let waited = 60_000
  const bypassedAfter: number[] = []
  const endedAfter: number[] = []
  const program: Program = {
    deployment: hosted,
    pid: undefined,
    ended: new Promise(() => {}),
    send: () => new Promise(() => {}),
    async responds() {
      asked += 1
      waited += waitsMs
      return asked === respondsTo
    },
    waitedMs: async () => waited,
    compiled: async () => undefined,
    usage: async () => ({ memoryBytes: undefined, tasks: 1 }),
    end: async () => {},
    kill() {},
  }
  const liveness = createLiveness({
    clock,
    isStopped: () => false,
    bypass: () => void bypassedAfter.push(asked),
    endStuck: () => void endedAfter.push(asked),
  })
  const instance: Instance = createInstance(hosted, Promise.resolve(program), {
    clock,
    requests: 1,
    isAlone: false,
    endsByItself: () => false,
    cancelStart() {},
    onTimeout: async () => {},
  })
  await instance.started
  await liveness.check(instance, 4)
  return { bypassed: bypassedAfter[0], ended: endedAfter[0], asked }
}

describe('a program that does not respond', () => {
  it.each([
    ['has a processor all the time', 0, { bypassed: 1, ended: 4 }],
    ['has one a quarter of the time', 1500, { bypassed: 1, ended: 4 }],
    ['has one an eighth of the time', 1750, { bypassed: 2, ended: 8 }],
    ['has none', 2000, { bypassed: 16, ended: 16 }],
    ['waits for several in several processes', 9000, { bypassed: 16, ended: 16 }],
  ])(
    'is replaced and ended by the time that it could have responded: it %s',
    async (_, waitsMs, after) => {
      expect(await open({ waitsMs })).toMatchObject(after)
    },
  )

  it('goes on, without another beside it, if it responds when it has a processor', async () => {
    expect(await open({ waitsMs: 1950, respondsTo: 9 })).toEqual({ asked: 9 })
  })
})
