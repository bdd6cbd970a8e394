import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { isoTime, systemClock } from '../../../platform/clock.js'
import type { Position } from '../../../platform/db/paginate.js'
import type { Tx } from '../../../platform/db/schema.js'
import { createIds } from '../../../platform/ids.js'
import { createMerge, placeOf } from './merge.js'
import { createSources, type SourceName, sourceNames } from './sources.js'

const ids = createIds()
const start = Date.parse('2026-03-01T12:00:00Z')
const objectText = '{}'

/** Entries of all sources at few times, so that many happen in the same millisecond. */
const samples = fc.array(
  fc.record({ source: fc.constantFrom(...sourceNames), minute: fc.nat(3) }),
  { maxLength: 25 },
)

describeEachEngine('the timeline', (engine) => {
  const database = useDatabase(engine)

  /** Stores an entry and returns its key. */
  async function insert(
    tx: Tx,
    source: SourceName,
    { id: conversation_id, bot_id }: { id: string; bot_id: string },
    created_at: string,
    sequence: number,
  ): Promise<string> {
    const times = { created_at, updated_at: created_at }
    const own = { bot_id, conversation_id, created_at }
    switch (source) {
      case 'conversation': {
        const event = { stream: conversation_id, sequence, bot_id, created_at, data: null }
        const type = 'participant_added'
        await tx
          .insertInto('events')
          .values({ ...event, type, subject_id: 'user_ann' })
          .execute()
        return String(sequence).padStart(16, '0')
      }
      case 'message': {
        const id = ids.next('msg')
        const text = { type: 'text', payload: objectText, user_id: bot_id, sequence }
        const message = { ...own, ...text, id, direction: 'outgoing' as const }
        await tx.insertInto('messages').values(message).execute()
        return id
      }
      case 'event': {
        const id = ids.next('evt')
        const event = {
          ...own,
          id,
          type: 'timer',
          payload: objectText,
          status: 'processed' as const,
        }
        await tx.insertInto('bot_events').values(event).execute()
        return id
      }
      case 'workflow': {
        const id = ids.next('wrkflow')
        const workflow = { ...own, ...times, id, name: 'order', status: 'completed' as const }
        const texts = { input: objectText, output: objectText, tags: objectText }
        await tx
          .insertInto('workflows')
          .values({ ...workflow, ...texts, timeout_at: created_at })
          .execute()
        return id
      }
      case 'state': {
        const id = ids.next('state')
        const owner = { type: 'conversation' as const, owner_id: conversation_id, bot_id }
        const state = { ...owner, ...times, id, integration: '', name: id, payload: objectText }
        await tx.insertInto('states').values(state).execute()
        return id
      }
      case 'change': {
        const id = ids.next('activty')
        const change = { id, bot_id, object_id: conversation_id, created_at }
        const texts = { before: objectText, after: objectText }
        await tx
          .insertInto('object_changes')
          .values({ ...change, ...texts })
          .execute()
        return id
      }
      case 'log': {
        const id = ids.next('report')
        const line = { ...own, workspace_id: 'ws', id, level: 'info' as const, message: 'Said' }
        await tx.insertInto('log_lines').values(line).execute()
        return id
      }
      default:
        return source satisfies never
    }
  }

  it('has all entries of its conversation once and in order, in pages of any size, from both ends', async () => {
    const { db } = database()
    const readPart = createMerge(createSources({ db, clock: systemClock }, 'ws'))
    await fc.assert(
      fc.asyncProperty(
        samples,
        fc.integer({ min: 1, max: 6 }),
        fc.subarray([...sourceNames], { minLength: 1 }),
        async (given, size, chosen) => {
          const conversation = { id: ids.next('conv'), bot_id: ids.uuid() }
          const stranger = { id: conversation.id, bot_id: ids.uuid() }
          const made = await database().run(async (tx) => {
            const entries = []
            for (const [at, { source, minute }] of given.entries()) {
              const time = isoTime(start + minute * 60_000)
              const key = await insert(tx, source, conversation, time, at + 1)
              entries.push({ source, at: time, key })
            }
            // Bots may write lines about conversations that are not theirs.
            await insert(tx, 'log', stranger, isoTime(start), 0)
            return entries
          })
          const expected = made
            .filter(({ source }) => chosen.includes(source))
            .map((entry) => placeOf(entry))
            .sort((a, b) => (`${a.value}${a.id}` < `${b.value}${b.id}` ? -1 : 1))
          const sources = new Set(chosen)
          for (const direction of ['asc', 'desc'] as const) {
            const found: Position[] = []
            let after: Position | undefined
            for (;;) {
              const part = await readPart(conversation, { direction, after, size, sources })
              expect(part.entries.length).toBeLessThanOrEqual(size)
              found.push(...part.entries.map((entry) => placeOf(entry)))
              after = found.at(-1)
              if (!part.isMore) break
            }
            expect(found).toEqual(direction === 'asc' ? expected : expected.toReversed())
          }
        },
      ),
      { numRuns: 40 },
    )
  })

  it('ends a page before it gets too large, and not before its first entry', async () => {
    const { db } = database()
    const conversation = { id: ids.next('conv'), bot_id: ids.uuid() }
    const payload = JSON.stringify({ text: 'x'.repeat(1_500_000) })
    await database().run(async (tx) => {
      for (const minute of [1, 2, 3]) {
        const key = await insert(tx, 'message', conversation, isoTime(start + minute), minute)
        await tx.updateTable('messages').set({ payload }).where('id', '=', key).execute()
      }
    })
    const readPart = createMerge(createSources({ db, clock: systemClock }, 'ws'))
    const range = { direction: 'asc', after: undefined, size: 3 } as const
    const part = await readPart(conversation, { ...range, sources: new Set(['message'] as const) })
    expect(part.entries).toHaveLength(1)
    expect(part.isMore).toBe(true)
  })
})
