import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
import { Instance } from './instance.js'
import { createLiveness } from './liveness.js'
import type { Program } from './program.js'

const hosted = {
  id: 'deployment',
  workspaceId: 'workspace',
  owner: { type: 'bot', id: 'bot' },
  secrets: {},
  isSuspended: false,
} as const

interface Question {
  /** Milliseconds of each question for which the program waits for a processor. */
  waitsMs?: number
  /** Milliseconds of each question for which the server does not run. */
  delayMs?: number
  /** Number of the question to which the program responds. */
  respondsTo?: number
}

async function open({ waitsMs = 0, delayMs = 0, respondsTo }: Question) {
  const clock = new ManualTime()
  let asked = 0
  let waited = 60_000
  const bypassedAfter: number[] = []
  const endedAfter: number[] = []
  const reasons: string[] = []
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
    processorTimes: async () => new Map([[7, { ranMs: 0, waitedMs: waited, isRunnable: false }]]),
    compiled: async () => undefined,
    usage: async () => ({ memoryBytes: undefined, tasks: 1 }),
    end: async () => {},
    kill() {},
  }
  const liveness = createLiveness({
    clock,
    watchDelay: () => () => delayMs,
    isStopped: () => false,
    bypass: () => void bypassedAfter.push(asked),
    endStuck: (_, reason) => {
      endedAfter.push(asked)
      reasons.push(reason)
    },
  })
  const instance = new Instance(hosted, Promise.resolve(program), {
    clock,
    requests: 1,
    isAlone: false,
    endsByItself: () => false,
    cancelStart() {},
    onTimeout: async () => {},
  })
  await instance.started
  // A request that waits for the program.
  instance.claim()
  await liveness.check(instance, 4)
  return { bypassed: bypassedAfter[0], ended: endedAfter[0], asked, reason: reasons[0] }
}

describe('a program that does not respond', () => {
  it.each([
    ['it has a processor all the time', {}, { bypassed: 1, ended: 4 }],
    ['it has one half of the time', { waitsMs: 1000 }, { bypassed: 1, ended: 7 }],
    ['it has one a quarter of the time', { waitsMs: 1500 }, { bypassed: 1, ended: 14 }],
    ['it has one an eighth of the time', { waitsMs: 1750 }, { bypassed: 2, ended: 16 }],
    ['it has none', { waitsMs: 2000 }, { bypassed: 16, ended: 16 }],
    ['it waits for several in several processes', { waitsMs: 9000 }, { bypassed: 16, ended: 16 }],
    ['the server runs half of the time', { delayMs: 1000 }, { bypassed: 1, ended: 7 }],
    ['the server runs an eighth of the time', { delayMs: 1750 }, { bypassed: 2, ended: 16 }],
    ['one runs after the other', { waitsMs: 1000, delayMs: 500 }, { bypassed: 1, ended: 14 }],
  ])(
    'is replaced and ended by the time in which it could have responded: %s',
    async (_, question, after) => {
      expect(await open(question)).toMatchObject(after)
    },
  )

  it('is told why: an endless loop, or perhaps too little of a processor', async () => {
    expect((await open({})).reason).toMatch(/anything, as code in an endless loop does$/)
    expect((await open({ waitsMs: 1500 })).reason).toMatch(/anything, as code in an endless/)
    expect((await open({ waitsMs: 1750 })).reason).toMatch(/endless loop, or had hardly any time/)
  })

  it('goes on if it computes for as long as it may, however little of a processor others leave', async () => {
    expect(await open({ waitsMs: 1500, respondsTo: 13 })).toMatchObject({
      bypassed: 1,
      ended: undefined,
    })
  })

  it('goes on, without another beside it, if it responds when it has a processor', async () => {
    expect(await open({ waitsMs: 1950, respondsTo: 9 })).toEqual({ asked: 9 })
  })

  it('goes on if it responds to a server that runs again', async () => {
    expect(await open({ delayMs: 3000, respondsTo: 2 })).toEqual({ asked: 2 })
  })
})
