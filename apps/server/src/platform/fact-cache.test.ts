import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { absenceLifetime, createFactCache, factLifetime } from './fact-cache.js'

interface Fact {
  version: number
}

/** A source whose answers are held until the test lets them go. */
function createSource(groupOf = (key: string) => key) {
  let now = 1_000_000
  let current: Fact | undefined = { version: 1 }
  const reads: { key: string; answer: () => void; fail: (error: Error) => void }[] = []
  const cache = createFactCache<Fact>({
    clock: { now: () => now },
    read: (key) =>
      new Promise((resolve, reject) => {
        const seen = current
        reads.push({ key, answer: () => resolve(seen), fail: reject })
      }),
    groupOf,
    maxFacts: 50,
  })
  return {
    cache,
    reads,
    advance: (milliseconds: number) => {
      now += milliseconds
    },
    set: (fact: Fact | undefined) => {
      current = fact
    },
    /** Asks and lets the read end, if there is one. */
    async get(key: string) {
      const answer = cache.get(key)
      for (const read of reads) read.answer()
      return await answer
    },
  }
}

describe('the memory of facts', () => {
  it('returns at once until the fact is five seconds old', async () => {
    const source = createSource()
    await source.get('a')
    source.set({ version: 2 })
    source.advance(factLifetime - 1)
    expect(source.cache.get('a')).toEqual({ version: 1 })
    source.advance(1)
    expect(source.cache.get('a')).toBeInstanceOf(Promise)
    expect(await source.get('a')).toEqual({ version: 2 })
  })

  it('counts the age from the start of the read', async () => {
    const source = createSource()
    const slow = source.cache.get('a')
    source.advance(factLifetime)
    source.reads[0]?.answer()
    await slow
    expect(source.cache.get('a')).toBeInstanceOf(Promise)
  })

  it('reads once for all who ask meanwhile', async () => {
    const source = createSource()
    const asked = [source.cache.get('a'), source.cache.get('a'), source.cache.get('a')]
    expect(source.reads).toHaveLength(1)
    source.reads[0]?.answer()
    expect(await Promise.all(asked)).toEqual(Array(3).fill({ version: 1 }))
  })

  it('remembers that there is nothing, for a second', async () => {
    const source = createSource()
    source.set(undefined)
    expect(await source.get('a')).toBeUndefined()
    source.set({ version: 1 })
    source.advance(absenceLifetime - 1)
    expect(source.cache.get('a')).toBeUndefined()
    source.advance(1)
    expect(await source.get('a')).toEqual({ version: 1 })
    expect(source.cache.get('a')).toEqual({ version: 1 })
  })

  it('does not lose facts to those who ask for what is not there', async () => {
    const source = createSource()
    await source.get('known')
    source.set(undefined)
    for (let i = 0; i < 2000; i += 1) await source.get(`guess-${i}`)
    expect(source.cache.get('known')).toEqual({ version: 1 })
  })

  it('does not keep a failure', async () => {
    const source = createSource()
    const asked = [source.cache.get('a'), source.cache.get('a')]
    source.reads[0]?.fail(new Error('no database'))
    for (const answer of asked) await expect(answer).rejects.toThrow('no database')
    expect(await source.get('a')).toEqual({ version: 1 })
  })

  it('does not believe after a change what was read before it', async () => {
    const source = createSource()
    const before = source.cache.get('a')
    source.set(undefined)
    source.cache.forget(() => true)
    const after = source.cache.get('a')
    expect(source.reads).toHaveLength(2)
    source.reads[1]?.answer()
    expect(await after).toBeUndefined()
    source.reads[0]?.answer()
    await before
    expect(source.cache.get('a')).toBeUndefined()
  })

  it('forgets only what is picked', async () => {
    const source = createSource()
    await source.get('a')
    await source.get('b')
    source.cache.forget((key) => key === 'a')
    expect(source.cache.get('b')).toEqual({ version: 1 })
    expect(source.cache.get('a')).toBeInstanceOf(Promise)
  })

  it('forgets one group without a look at the others', async () => {
    const looked: string[] = []
    const source = createSource((key) => {
      looked.push(key)
      return key.slice(0, 1)
    })
    for (const key of ['a1', 'a2', 'b1']) await source.get(key)
    const slow = source.cache.get('a3')
    looked.length = 0
    source.cache.forgetGroup('a')
    source.cache.forgetGroup('c')
    expect(looked.sort()).toEqual(['a1', 'a2'])
    expect(source.cache.get('b1')).toEqual({ version: 1 })
    for (const read of source.reads) read.answer()
    await slow
    for (const key of ['a1', 'a2', 'a3']) expect(source.cache.get(key)).toBeInstanceOf(Promise)
  })

  it('forgets a fact in the group that it was in last', async () => {
    let group = 'a'
    const source = createSource(() => group)
    await source.get('key')
    source.advance(factLifetime)
    await source.get('key')
    source.cache.forgetGroup(group)
    expect(source.cache.get('key')).toBeInstanceOf(Promise)
    group = 'b'
    await source.get('key')
    source.cache.forgetGroup('b')
    expect(source.cache.get('key')).toBeInstanceOf(Promise)
  })

  it('reads anew when the clock steps back', async () => {
    const source = createSource()
    await source.get('a')
    source.advance(-1)
    expect(source.cache.get('a')).toBeInstanceOf(Promise)
  })

  it('never returns a fact that was replaced more than five seconds ago', async () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('advance' as const), by: fc.nat(4000) }),
      fc.constant({ type: 'change' as const }),
      fc.constant({ type: 'vanish' as const }),
      fc.constant({ type: 'ask' as const }),
      fc.constant({ type: 'answer' as const }),
      fc.constant({ type: 'revoke' as const }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const source = createSource()
        let now = 0
        let version = 1
        let forgotten = 0
        /** The time at which each version became outdated. */
        const ends = new Map<number, number>()
        for (const each of steps) {
          switch (each.type) {
            case 'advance':
              source.advance(each.by)
              now += each.by
              break
            case 'change':
            case 'vanish':
            case 'revoke':
              ends.set(version, now)
              version += 1
              source.set(each.type === 'change' ? { version } : undefined)
              if (each.type === 'revoke') {
                source.cache.forget(() => true)
                forgotten = version
              }
              break
            case 'ask': {
              const answer = source.cache.get('a')
              if (answer !== undefined && !(answer instanceof Promise)) {
                expect(now - (ends.get(answer.version) ?? now)).toBeLessThan(factLifetime)
                expect(answer.version).toBeGreaterThanOrEqual(forgotten)
              }
              break
            }
            case 'answer':
              for (const read of source.reads) read.answer()
              await new Promise((resolve) => setImmediate(resolve))
              break
            default:
              each satisfies never
          }
        }
      }),
    )
  })
})
