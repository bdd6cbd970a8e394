import { describe, expect, it, vi } from 'vitest'
import { type Machine, Patience, waitFor, waitUntil } from './patience.js'

interface Conditions {
  /** Tasks for each processor. */
  crowd?: number
  /** Milliseconds by which a timer of 20 rings late. */
  late?: number
}

/** A machine whose clock advances each time it is read. */
function createMachine({ crowd = 0.5, late = 0 }: Conditions = {}): Machine & { passed: number } {
  const machine = {
    passed: 0,
    now: () => {
      machine.passed += 20 + late
      return machine.passed
    },
    crowd: () => crowd,
  }
  return machine
}

/** Seconds until the patience of a wait is over. */
function secondsOf(conditions: Conditions, limit?: number): number {
  const machine = createMachine(conditions)
  const patience = new Patience(limit, machine)
  while (!patience.isOver());
  return Math.round(machine.passed / 1000)
}

describe('the patience of a wait', () => {
  it('is over within seconds on an idle machine', () => {
    expect(secondsOf({})).toBe(5)
    expect(secondsOf({ crowd: 1 })).toBe(5)
  })

  it('lasts longer where other tasks compete for the processors', () => {
    expect(secondsOf({ crowd: 2 })).toBe(10)
    expect(secondsOf({ crowd: 5 })).toBe(25)
  })

  it('does not count the time in which this process got no processor', () => {
    expect(secondsOf({ late: 20 })).toBe(10)
    expect(secondsOf({ late: 20, crowd: 2 })).toBe(20)
  })

  it('has an end on any machine', () => {
    expect(secondsOf({ crowd: 100 })).toBe(100)
    // It looks at the clock once a second.
    expect(secondsOf({ late: 980 })).toBe(101)
  })

  it('is as long as a test asks for, but never shorter than usual', () => {
    expect(secondsOf({}, 12_000)).toBe(12)
    expect(secondsOf({ crowd: 100 }, 12_000)).toBe(100)
    expect(secondsOf({ crowd: 100 }, 60_000)).toBe(360)
    expect(secondsOf({}, 1000)).toBe(5)
  })

  it('is that of this machine unless a test brings another', () => {
    expect(new Patience().isOver()).toBe(false)
  })

  it('is that of every wait of a test', () => {
    expect(vi.waitFor.toString()).toBe(waitFor.toString())
    expect(vi.waitUntil.toString()).toBe(waitUntil.toString())
  })
})

const interval = 1
/** A machine on which a wait of five seconds ends soon: a second passes at each look. */
const impatient = () => createMachine({ late: 980 })

describe('a wait for an assertion', () => {
  it('tries again until it holds, and returns its result', async () => {
    let tries = 0
    const third = async () => {
      tries += 1
      expect(tries).toBe(3)
      return 'done'
    }
    expect(await waitFor(third, { interval })).toBe('done')
    expect(await waitFor(() => 'at once')).toBe('at once')
    expect(tries).toBe(3)
  })

  it('reports why the last attempt failed', async () => {
    let tries = 0
    const never = () => {
      tries += 1
      throw new Error(`Attempt ${tries}`)
    }
    const error: Error = await waitFor(never, { interval }, impatient()).catch((error) => error)
    expect(error.message).toBe(`Attempt ${tries}`)
    expect(tries).toBeGreaterThan(20)
  })

  it('ends also while an attempt does not, and says where', async () => {
    const hangs = () => new Promise<void>(() => {})
    const error: Error = await waitFor(hangs, { interval }, impatient()).catch((error) => error)
    expect(error.message).toBe('It took too long')
    expect(error.stack).toContain('patience.test.ts')
  })

  it('makes one more attempt after the process got no processor for long', async () => {
    let tries = 0
    const second = () => {
      tries += 1
      expect(tries).toBe(2)
    }
    await waitFor(second, { interval }, createMachine({ late: 20_000 }))
  })

  it('makes no attempt beside another', async () => {
    let atOnce = 0
    let tries = 0
    await waitUntil(
      async () => {
        tries += 1
        atOnce += 1
        expect(atOnce).toBe(1)
        await new Promise((resolve) => setTimeout(resolve, 5))
        atOnce -= 1
        return tries === 3
      },
      { interval },
    )
  })
})

describe('a wait for a condition', () => {
  it('returns the first result that is true', async () => {
    const results = [0, undefined, 'three', 'four']
    expect(await waitUntil(() => results.shift(), { interval })).toBe('three')
    expect(results).toEqual(['four'])
  })

  it('ends with the first error', async () => {
    const fails = async () => {
      throw new Error('There is no such file')
    }
    await expect(waitUntil(fails)).rejects.toThrow('There is no such file')
  })

  it('ends when it does not become true', async () => {
    const wait = waitUntil(() => false, { interval }, impatient())
    await expect(wait).rejects.toThrow('It took too long')
  })
})
