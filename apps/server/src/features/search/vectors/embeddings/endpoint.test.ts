import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { useEmbeddings } from '../../../../../test/embeddings.js'
import { freePort } from '../../../../../test/ports.js'
import { createAddressRules } from '../../../../platform/outgoing/address-rules.js'
import { createOutgoing } from '../../../../platform/outgoing/outgoing.js'
import { createEndpoint, EmbeddingsError } from './endpoint.js'

const fake = useEmbeddings(await freePort())

describe('an embeddings endpoint', () => {
  const outgoing = createOutgoing({
    rules: createAddressRules({ allowed: 'any', allowLoopback: true }),
  })
  const pauses: number[] = []
  const endpoint = createEndpoint({
    url: fake.url,
    apiKey: 'a-key',
    outgoing,
    pause: async (milliseconds) => {
      pauses.push(milliseconds)
    },
  })
  const embed = (
    texts: string[],
    options: { model?: string; timeoutMs?: number; attempts?: number } = {},
  ) => endpoint.embed({ model: 'small', texts, timeoutMs: 60_000, attempts: 3, ...options })

  afterAll(async () => {
    await outgoing[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    fake.mood = 'well'
    fake.hostile = undefined
    fake.calls.length = 0
    pauses.length = 0
  })

  it('returns vectors of length 1 in the order of the texts', async () => {
    const [car, bread] = await embed(['a car', 'a loaf'])
    expect(Math.hypot(...(car ?? []))).toBeCloseTo(1, 5)
    expect(car?.indexOf(Math.max(...car))).toBe(0)
    expect(bread?.indexOf(Math.max(...bread))).toBe(2)
    expect(fake.calls).toEqual([{ model: 'small', texts: 2, authorization: 'Bearer a-key' }])
  })

  it('is called again after the pause that it requests', async () => {
    fake.mood = 'busy once'
    expect(await embed(['a car'])).toHaveLength(1)
    expect(pauses).toEqual([0])
  })

  it('fails after some attempts with growing pauses', async () => {
    fake.mood = 'down'
    await expect(embed(['a car'])).rejects.toThrow(/returned status 503/)
    expect(fake.calls).toHaveLength(3)
    // Each is half to one and a half times as long as planned, so that only the ranges grow.
    expect(pauses).toHaveLength(2)
    expect(pauses[0]).toBeGreaterThanOrEqual(250)
    expect(pauses[0]).toBeLessThanOrEqual(750)
    expect(pauses[1]).toBeGreaterThanOrEqual(500)
    expect(pauses[1]).toBeLessThanOrEqual(1500)
  })

  it('is not awaited longer than requested', async () => {
    fake.mood = 'silent'
    await expect(embed(['a car'], { timeoutMs: 50, attempts: 1 })).rejects.toThrow(
      'No answer within 50 ms',
    )
  })

  it('that refuses a text is not called with it again', async () => {
    fake.mood = 'refusing long texts'
    const model = 'refusing'
    const error = await embed(['x'.repeat(2000)], { model }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(EmbeddingsError)
    expect(error).toMatchObject({ isRefusal: true })
    // The call that nobody waited for may arrive only now.
    expect(fake.calls.filter((call) => call.model === model)).toHaveLength(1)
    expect(String(error)).not.toContain('a-key')
  })

  it.each([
    ['an index beyond the texts', { data: [{ index: 30_000_000, embedding: [1, 0] }] }],
    ['an index before the texts', { data: [{ index: -1, embedding: [1, 0] }] }],
    ['an index between the texts', { data: [{ index: 0.5, embedding: [1, 0] }] }],
    [
      'two vectors of a text',
      {
        data: [
          { index: 0, embedding: [1, 0] },
          { index: 0, embedding: [0, 1] },
        ],
      },
    ],
    ['a length in place of a list', { data: { length: 1e9 } }],
    ['objects in place of numbers', { data: [{ index: 0, embedding: [{ toString: 1 }, 1] }] }],
    ['lists in place of numbers', { data: [{ index: 0, embedding: [[1], [[2]]] }] }],
    ['numbers without an end', { data: [{ index: 0, embedding: [1e308, 1e308] }] }],
    ['a list in place of objects', { data: [[[]]] }],
    ['nothing', null],
    ['more values than vectors have', { data: Array.from({ length: 20_000 }, () => ({})) }],
  ])('that gives %s gives no vectors', async (_, answer) => {
    fake.hostile = JSON.stringify(answer)
    const error = await embed(['a car']).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(EmbeddingsError)
  })

  it('that gives more bytes than vectors have is not read to the end', async () => {
    fake.hostile = `{"padding":"${'x'.repeat(1_000_000)}","data":[{"index":0,"embedding":[1,0]}]}`
    await expect(embed(['a car'])).rejects.toThrow('too long')
  })
})
