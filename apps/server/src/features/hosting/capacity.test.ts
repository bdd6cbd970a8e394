import { availableParallelism } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
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

/** Room for some programs, in which those that wait write down their workspace when they get in. */
function openRooms(processes: number) {
  const time = new ManualTime()
  let idleEnded = 0
  const capacity = createCapacity({
    timers: time,
    processes,
    endOneIdle: () => {
      idleEnded += 1
    },
    countEnding: () => idleEnded,
  })
  const entered: string[] = []
  const enter = (workspaceId: string) => {
    const room = capacity.enter(workspaceId)
    room.then(
      () => entered.push(workspaceId),
      (error: Error) => entered.push(error.message),
    )
    return room
  }
  const enterMany = (workspaceId: string, count: number) =>
    Array.from({ length: count }, () => enter(workspaceId))
  return {
    time,
    capacity,
    entered,
    enter,
    enterMany,
    idleEnded: () => idleEnded,
    /** The programs that were ending have ended. */
    endedAll: () => {
      idleEnded = 0
    },
  }
}

describe('the room for programs', () => {
  it('as many idle programs end as wait for room, and no more', async () => {
    const { capacity, enter, idleEnded, endedAll } = openRooms(2)
    const rooms = [await enter('one'), await enter('two')]
    for (const { started } of rooms) started()
    capacity.makeRoom()
    expect(idleEnded()).toBe(0)
    const waiting = [enter('one'), enter('two')]
    expect(idleEnded()).toBe(2)
    capacity.makeRoom()
    expect(idleEnded()).toBe(2)
    endedAll()
    rooms[0]?.leave()
    ;(await waiting[0])?.started()
    capacity.makeRoom()
    expect(idleEnded()).toBe(1)
  })

  it('a workspace has as many programs that start as it leaves places to others, however many wait', async () => {
    const { capacity, entered, enter, enterMany, idleEnded } = openRooms(6)
    const slow = enterMany('slow', 20)
    await turn()
    expect(entered).toEqual(['slow', 'slow', 'slow'])
    enterMany('other', 20)
    enter('third')
    await turn()
    expect(entered.slice(3)).toEqual(['other', 'other', 'third'])
    expect(idleEnded()).toBe(0)
    // There is no place any more: those that started are idle, and end for others.
    for (const room of slow.slice(0, 2)) (await room).started()
    enter('fourth')
    await turn()
    expect(entered).toHaveLength(6)
    // One for each of two workspaces: the third has its share of those that start.
    for (let times = 0; times < 5; times++) capacity.makeRoom()
    expect(idleEnded()).toBe(2)
    ;(await slow[0])?.leave()
    await turn()
    expect(entered.slice(6)).toEqual(['slow'])
    ;(await slow[1])?.leave()
    await turn()
    expect(entered.slice(7)).toEqual(['fourth'])
  })

  it('a program that ends before it has started leaves its place and its share, once', async () => {
    const { entered, enterMany } = openRooms(2)
    const [first] = enterMany('slow', 3)
    await turn()
    expect(entered).toHaveLength(1)
    const room = await first
    room?.leave()
    room?.started()
    await turn()
    expect(entered).toHaveLength(2)
  })

  it('those that wait are told after ten seconds that all are busy, and later that their own start', async () => {
    const { time, entered, enter, enterMany } = openRooms(4)
    const slow = enterMany('slow', 3)
    await turn()
    time.advance(10_000)
    await turn()
    expect(entered).toEqual(['slow', 'slow'])
    time.advance(50_000)
    await turn()
    expect(entered.slice(2)).toEqual([
      expect.stringMatching(/^2 programs of the workspace are starting.* of 4 in all/),
    ])
    for (const room of slow.slice(0, 2)) (await room).started()
    for (const workspaceId of ['a', 'b']) (await enter(workspaceId)).started()
    enter('c')
    await turn()
    time.advance(10_000)
    await turn()
    expect(entered.slice(5)).toEqual([expect.stringMatching(/^This server runs 4 .* all are busy/)])
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
