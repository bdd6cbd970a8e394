import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
import { createLog, createOutageLog } from '../telemetry/log.js'
import { createLeases } from './leases.js'
import { createWatch } from './watch.js'

const leaseMs = 30_000

describe('leases', () => {
  async function hold(works: string[], kept: (work: string) => boolean) {
    const time = new ManualTime()
    const prolonged: { works: readonly string[]; until: string }[] = []
    const lost: string[] = []
    const leases = createLeases<string>({
      clock: time,
      timers: time,
      log: await createLog({ level: 'silent' }),
      leaseMs,
      held: () => works,
      async prolong(held, until) {
        prolonged.push({ works: held, until })
        if (held.includes('broken')) throw new Error('The database is away')
        return kept
      },
      lose: (work) => lost.push(work),
      fault: 'leases could not be prolonged',
    })
    const beat = async () => {
      time.advance(leaseMs / 3)
      await nextTurn()
    }
    return { time, leases, prolonged, lost, beat }
  }

  it('are prolonged every third of their time, and those that were not kept are lost', async () => {
    const { leases, prolonged, lost, beat } = await hold(['own', 'gone'], (work) => work === 'own')
    leases.start()
    const ends: string[] = []
    for (let beats = 0; beats < 2; beats += 1) {
      await beat()
      ends.push(leases.end())
    }
    expect(prolonged).toEqual(ends.map((until) => ({ works: ['own', 'gone'], until })))
    expect(lost).toEqual(['gone', 'gone'])
  })

  it('are not lost because they cannot be prolonged, and tried again', async () => {
    const { leases, prolonged, lost, beat } = await hold(['broken'], () => false)
    leases.start()
    await beat()
    await beat()
    expect(prolonged).toHaveLength(2)
    expect(lost).toEqual([])
  })

  it('end with the work, which is given up when it takes too long', async () => {
    const { time, leases, prolonged } = await hold(['own'], () => true)
    leases.start()
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const finished = leases.finish(1000, ended, end)
    time.advance(999)
    await nextTurn()
    expect(time.pending).toBe(2)
    time.advance(1)
    await finished
    expect(time.pending).toBe(0)
    expect(prolonged).toEqual([])
  })
})

describe('a watch', () => {
  async function watch(look: () => Promise<number | undefined>) {
    const time = new ManualTime()
    const log = await createLog({ level: 'silent' })
    const made = createWatch({
      timers: time,
      name: 'test',
      outages: createOutageLog(log, { begins: 'away', ends: 'back' }),
      look,
      pauseAfterFault: () => 5000,
      onAlarm: () => made.wake(),
    })
    return { time, watch: made }
  }

  it('looks once more after it was woken during a look, and then when its alarm goes off', async () => {
    let looks = 0
    const made = await watch(async () => {
      looks += 1
      if (looks === 1) made.watch.wake()
      return looks === 3 ? undefined : 100
    })
    made.watch.wake()
    await nextTurn()
    expect(looks).toBe(2)
    made.time.advance(100)
    await nextTurn()
    expect(looks).toBe(3)
    expect(made.time.pending).toBe(0)
  })

  it('looks again after a fault, and no more once it is closed', async () => {
    let looks = 0
    const { time, watch: made } = await watch(async () => {
      looks += 1
      throw new Error('The database is away')
    })
    made.wake()
    await nextTurn()
    time.advance(5000)
    await nextTurn()
    expect(looks).toBe(2)
    await made.close()
    made.wake()
    time.advance(5000)
    expect(looks).toBe(2)
  })
})
