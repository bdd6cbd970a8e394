import { describe, expect, it } from 'vitest'
import { listen, recordedLog, testEventBus } from './conformance.js'
import { createLocalBus } from './local.js'

testEventBus('local', async (log) => {
  const bus = createLocalBus(log)
  return { publisher: bus, listener: bus }
})

describe('the local bus', () => {
  it('delivers in the turn of the publisher, before any timer or response of the network', async () => {
    const bus = createLocalBus((await recordedLog()).log)
    const { hints } = listen(bus, { topic: 'conversation', key: 'a' })
    bus.publish({ topic: 'conversation', key: 'a', seq: 1 })
    await Promise.resolve()
    expect(hints).toEqual([{ topic: 'conversation', key: 'a', seq: 1 }])
  })
})
