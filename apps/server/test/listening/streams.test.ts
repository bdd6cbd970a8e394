import { beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine } from '../engines.js'
import { useServer } from '../harness.js'
import {
  listenBySocket,
  listenRaw,
  openRoom,
  type RawAddress,
  type RawListener,
} from './raw-stream.js'

type Room = Awaited<ReturnType<typeof openRoom>>

const transports: [string, (address: RawAddress) => Promise<RawListener>][] = [
  ['server-sent events', listenRaw],
  ['WebSocket', listenBySocket],
]

describeEachEngine('listening', (engine) => {
  const server = useServer(engine)

  describe.each(transports)('by %s', (_, listen) => {
    let room: Room
    beforeAll(async () => {
      room = await openRoom(server())
    })
    const textsOf = (listener: RawListener) =>
      listener.heard.map(({ data }) => Reflect.get(Object(data.payload), 'text'))

    it('sends messages before the response to their creation', async () => {
      const listener = await listen(room.address)
      const { message } = await room.say('first')
      await listener.until((heard) => heard.length === 1)
      expect(listener.heard[0]).toMatchObject({
        type: 'message_created',
        data: { ...message, isBot: false },
        sequence: expect.any(Number),
      })
      listener.close()
    })

    it('repeats missed events, then follows, without gaps and duplicates', async () => {
      const listener = await listen(room.address)
      await room.say('one')
      await listener.until((heard) => heard.some((_, i) => textsOf(listener)[i] === 'one'))
      listener.close()
      const missed = ['two', 'three', 'four']
      for (const text of missed) await room.say(text)
      const again = await listen({ ...room.address, after: listener.lastId })
      await room.say('five')
      await again.until((heard) => heard.length >= 4)
      expect(textsOf(again)).toEqual([...missed, 'five'])
      const [first = 0, ...others] = again.heard.map(({ sequence }) => sequence ?? 0)
      expect(others).toEqual(others.map((_, i) => first + i + 1))
      again.close()
    })
  })
})
