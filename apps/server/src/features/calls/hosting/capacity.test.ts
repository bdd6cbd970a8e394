import { availableParallelism } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../../test/manual-time.js'
import { createCapacity } from './capacity.js'

const places = Math.max(2, availableParallelism())

function open() {
  const time = new ManualTime()
  const capacity = createCapacity({
    timers: time,
    processes: 1000,
    endOneIdle: () => {},
    countEnding: () => 0,
  })
  const begun: string[] = []
  const begin = (workspaceId: string) => {
    const ready = capacity.begin(workspaceId)
    ready.then(
      () => begun.push(workspaceId),
      (error: Error) => begun.push(error.message),
    )
    return ready
  }
  return { time, capacity, begun, begin }
}

describe('the room for programs', () => {
  it('as many idle programs end as wait for room, and no more', async () => {
    let ending = 0
    const capacity = createCapacity({
      timers: new ManualTime(),
      processes: 1,
      endOneIdle: () => {
        ending += 1
      },
      countEnding: () => ending,
    })
    const leave = await capacity.enter()
    capacity.makeRoom()
    expect(ending).toBe(0)
    const waiting = [capacity.enter(), capacity.enter()]
    expect(ending).toBe(2)
    capacity.makeRoom()
    expect(ending).toBe(2)
    ending = 0
    leave()
    await waiting[0]
    capacity.makeRoom()
    expect(ending).toBe(1)
  })
})

describe('the turns of programs that start', () => {
  it('workspaces start one after the other, however many programs wait', async () => {
    const { begun, begin } = open()
    const first = Array.from({ length: places }, () => begin('many'))
    for (let at = 0; at < 10; at++) begin('many')
    for (const each of ['one', 'two', 'one']) begin(each)
    await turn()
    expect(begun).toEqual(first.map(() => 'many'))
    begun.length = 0
    for (const ready of first.slice(0, 2)) (await ready)()
    await turn()
    expect(begun).toEqual(['many', 'one'])
  })

  it('code that loads slowly gives its turn back, once', async () => {
    const { time, begun, begin } = open()
    const slow = Array.from({ length: places }, () => begin('slow'))
    const waiting = Array.from({ length: 2 * places }, () => begin('quick'))
    await turn()
    expect(begun).toHaveLength(places)
    time.advance(3000)
    await turn()
    expect(begun).toHaveLength(2 * places)
    // They have loaded after all.
    for (const ready of slow) (await ready)()
    await turn()
    expect(begun).toHaveLength(2 * places)
    for (const ready of waiting.slice(0, places)) (await ready)()
    await turn()
    expect(begun).toHaveLength(3 * places)
  })

  it('those that wait are refused when the server stops', async () => {
    const { capacity, begun, begin } = open()
    for (let at = 0; at <= places; at++) begin('one')
    capacity.close(new Error('stopping'))
    begin('two')
    await turn()
    expect(begun.filter((each) => each === 'stopping')).toHaveLength(2)
  })
})
