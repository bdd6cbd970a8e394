import { once } from 'node:events'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import type { Position } from '../../../platform/db/paginate.js'
import { createExports } from './export.js'

describeEachEngine('an export', (engine) => {
  const database = useDatabase(engine)

  /** Conversations without end, of which the export reads as many as somebody takes. */
  function endless() {
    const reads: (Position | undefined)[] = []
    return {
      reads,
      db: database().db,
      describe: async () => [],
      read: async (after: Position | undefined) => {
        reads.push(after)
        return { rows: [], end: { value: reads.length, id: 'conv' } }
      },
    }
  }

  it('ends when its reader goes, and makes room for another one', async () => {
    const exports = createExports()
    const open = (accountId: string) => exports.open(endless(), { accountId, withMessages: false })
    const limited = expect.objectContaining({ type: 'RateLimited' })
    const streams = [open('one'), open('one')]
    expect(() => open('one')).toThrow(limited)
    streams.push(open('two'), open('three'))
    expect(() => open('four')).toThrow(limited)
    const [first] = streams
    first?.destroy()
    if (first) await once(first, 'close')
    streams.push(open('four'))
    expect(() => open('five')).toThrow(limited)
    for (const stream of streams) stream.destroy()
  })

  it('ends when its reader goes while nothing is found', async () => {
    const source = endless()
    const stream = createExports().open(source, { accountId: 'one', withMessages: false })
    let taken = 0
    for await (const text of stream) {
      expect(text).toBe('')
      taken += 1
      if (taken === 10) break
    }
    expect(stream.destroyed).toBe(true)
    expect(source.reads.length).toBeLessThan(15)
  })

  it('reads nothing before somebody takes it', async () => {
    const source = endless()
    const stream = createExports().open(source, { accountId: 'one', withMessages: false })
    expect(source.reads).toEqual([])
    stream.destroy()
  })
})
