import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import type { Tags } from '../../../domain/tags.js'
import { isoTime } from '../../../platform/clock.js'
import type { Position } from '../../../platform/db/paginate.js'
import { createIds } from '../../../platform/ids.js'
import { replaceTags } from '../../conversations/tags/index.js'
import { type ConversationSelection, createFinder, positionOf } from './finder.js'

const ids = createIds()
const start = Date.parse('2026-03-01T12:00:00Z')

/** A conversation in short; times are few, so that many are equal. */
const conversation = fc.record({
  bot: fc.nat(2),
  minute: fc.nat(5),
  channel: fc.constantFrom('mail', 'web'),
  isTagged: fc.boolean(),
  isMember: fc.boolean(),
  isFailed: fc.boolean(),
  hasPhrases: fc.boolean(),
})

type Sample = typeof conversation extends fc.Arbitrary<infer Value> ? Value : never

const question = fc.record({
  bots: fc.subarray([0, 1, 2], { minLength: 1 }),
  since: fc.option(fc.nat(5), { nil: undefined }),
  until: fc.option(fc.nat(5), { nil: undefined }),
  channel: fc.option(fc.constantFrom('mail', 'web'), { nil: undefined }),
  isTagged: fc.boolean(),
  isMember: fc.boolean(),
  hasPhrases: fc.boolean(),
  hasFailedDelivery: fc.option(fc.boolean(), { nil: undefined }),
  size: fc.integer({ min: 1, max: 7 }),
  candidates: fc.constantFrom(0, 3, 100),
})

type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never

const timeOf = (minute: number) => isoTime(start + minute * 60_000)

describeEachEngine('the finder of conversations', (engine) => {
  const database = useDatabase(engine)

  async function store(samples: readonly Sample[]) {
    const botIds = [ids.uuid(), ids.uuid(), ids.uuid()]
    const rows = samples.map((sample) => ({
      sample,
      id: ids.next('conv'),
      botId: botIds[sample.bot] ?? '',
      at: timeOf(sample.minute),
    }))
    await database().run(async (tx) => {
      for (const { sample, id, botId: bot_id, at } of rows) {
        const times = { created_at: at, updated_at: at }
        await tx
          .insertInto('conversations')
          .values({ ...blank, ...times, id, bot_id, channel: sample.channel })
          .execute()
        if (sample.isMember) {
          const member = { conversation_id: id, user_id: 'user_ann', bot_id, created_at: at }
          await tx.insertInto('participants').values(member).execute()
        }
        const tags: Tags = sample.isTagged ? { topic: 'tea' } : {}
        await replaceTags(tx, { botId: bot_id, kind: 'conversation', id }, {}, tags)
        const delivery = { ...blankDelivery, ...times, bot_id, order_key: `${bot_id}//${id}` }
        const status = sample.isFailed ? 'failed' : 'delivered'
        await tx
          .insertInto('deliveries')
          .values({ ...delivery, id: ids.next('delivery'), status })
          .execute()
      }
    })
    return { botIds, rows }
  }

  const matches = (sample: Sample, { bots, ...asked }: Question) =>
    bots.includes(sample.bot) &&
    sample.minute >= (asked.since ?? 0) &&
    sample.minute <= (asked.until ?? 9) &&
    (asked.channel === undefined || sample.channel === asked.channel) &&
    (!asked.isTagged || sample.isTagged) &&
    (!asked.isMember || sample.isMember) &&
    (!asked.hasPhrases || sample.hasPhrases) &&
    (asked.hasFailedDelivery === undefined || sample.isFailed === asked.hasFailedDelivery)

  it('returns all that match and nothing else, in pages of any size, in both directions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(conversation, { maxLength: 25 }),
        question,
        async (samples, asked) => {
          const { botIds, rows } = await store(samples)
          const selection: ConversationSelection = {
            botIds: asked.bots.map((bot) => botIds[bot] ?? ''),
            times: {
              since: asked.since === undefined ? undefined : timeOf(asked.since),
              until: asked.until === undefined ? undefined : timeOf(asked.until),
            },
            narrowing: {
              integration: undefined,
              channel: asked.channel,
              tags: asked.isTagged ? { topic: 'tea' } : {},
              userId: asked.isMember ? 'user_ann' : undefined,
            },
            hasFailedDelivery: asked.hasFailedDelivery,
            phrases: asked.hasPhrases ? [['tea']] : undefined,
          }
          const { candidates } = asked
          const bounds = {
            candidates,
            messages: 3,
            examined: 6,
            atOnce: 5,
            counted: 100,
            sample: 1000,
          }
          const search = searchIn(rows, asked.candidates)
          const finder = createFinder({ db: database().db, search, bounds })
          const expected = rows
            .filter(({ sample }) => matches(sample, asked))
            .sort((a, b) => (`${a.at}${a.id}` < `${b.at}${b.id}` ? 1 : -1))
            .map(({ id }) => id)
          for (const direction of ['desc', 'asc'] as const) {
            const found: string[] = []
            let after: Position | undefined
            do {
              const isCounted = after === undefined
              const page = await finder.page(selection, { direction, after }, asked.size, {
                isCounted,
              })
              if (isCounted)
                expect(page.total).toEqual({ count: expected.length, accuracy: 'exact' })
              expect(page.rows.length).toBeLessThanOrEqual(asked.size)
              found.push(...page.rows.map(({ id }) => id))
              after = page.end
            } while (after !== undefined)
            expect(found).toEqual(direction === 'desc' ? expected : expected.toReversed())
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('estimates how many match when there are too many to look at', async () => {
    const samples = Array.from(
      { length: 40 },
      (_, at): Sample => ({
        bot: 0,
        minute: at,
        channel: at % 2 === 0 ? 'mail' : 'web',
        isTagged: false,
        isMember: false,
        isFailed: false,
        hasPhrases: false,
      }),
    )
    const { botIds } = await store(samples)
    const bounds = {
      candidates: 3,
      messages: 3,
      examined: 10,
      atOnce: 5,
      counted: 30,
      sample: 10,
    }
    const search = searchIn([], 0)
    const finder = createFinder({ db: database().db, search, bounds })
    const totalOf = async (channel: string | undefined) => {
      const selection: ConversationSelection = {
        botIds,
        times: { since: undefined, until: undefined },
        narrowing: { integration: undefined, channel, tags: {}, userId: undefined },
        hasFailedDelivery: undefined,
        phrases: undefined,
      }
      const range = { direction: 'desc', after: undefined } as const
      const page = await finder.page(selection, range, 2, { isCounted: true })
      expect(positionOf(page.rows.at(-1))).toEqual(page.end)
      return page.total
    }
    expect(await totalOf(undefined)).toEqual({ count: 30, accuracy: 'atLeast' })
    expect(await totalOf('mail')).toEqual({ count: 16, accuracy: 'about' })
  })
})

/** A search of messages that finds no more than some conversations at once. */
function searchIn(rows: readonly { id: string; sample: Sample }[], most: number) {
  const ids = rows.filter(({ sample }) => sample.hasPhrases).map(({ id }) => id)
  return {
    find: async () => (ids.length > most ? undefined : { ids, isComplete: true }),
    findIn: async (among: readonly string[]) => new Set(ids.filter((id) => among.includes(id))),
  }
}

const blank = {
  integration: 'chat',
  tags: '{}',
  properties: '{}',
  claimable: 0,
  message_count: 0,
  last_sequence: 0,
  last_message_at: 0,
} as const

const blankDelivery = {
  integration: '',
  kind: 'event_received',
  subject_id: 'evt_any',
  position: 1,
  attempts: 1,
  spent: 0,
  set_aside: 0,
} as const
