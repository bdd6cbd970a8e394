import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow, useDatabase } from '../../../../test/engines.js'
import { createTestClock } from '../../../../test/harness.js'
import { isoTime } from '../../../platform/clock.js'
import { createIds } from '../../../platform/ids.js'
import { createLog } from '../../../platform/telemetry/log.js'
import { createMessageSearch, toPhraseQuery } from './index.js'
import { createIndexer } from './indexer.js'
import { postgresWords } from './postgres-words-store.js'
import { matchesText } from './query.js'
import { sqliteWords } from './sqlite-words-store.js'

const minute = 60_000

describeSlow('the words of messages', (engine) => {
  const database = useDatabase(engine)
  const clock = createTestClock()
  const ids = createIds(clock)
  let indexer: ReturnType<typeof createIndexer>
  let search: ReturnType<typeof createMessageSearch>

  beforeAll(async () => {
    const { db, run, dialect } = database()
    const log = await createLog({ level: 'silent' })
    const deps = { db, run, dialect, clock, timers: clock, log }
    indexer = createIndexer({
      ...deps,
      index: dialect.choose({ sqlite: sqliteWords, postgres: postgresWords }),
    })
    search = createMessageSearch(deps)
  })

  /** Indexes all that is old enough. */
  async function index() {
    clock.advance(minute)
    while (await indexer.step());
  }

  interface Place {
    id?: string
    botId: string
    conversationId: string
  }

  async function say({ id = ids.next('msg'), botId, conversationId }: Place, text: string) {
    const row = {
      id,
      bot_id: botId,
      conversation_id: conversationId,
      user_id: 'user_ann',
      type: 'text',
      payload: JSON.stringify({ text }),
      direction: 'incoming' as const,
      sequence: 1,
      created_at: isoTime(clock.now()),
    }
    await database().run(async (tx) => {
      await tx.insertInto('messages').values(row).execute()
    })
    return id
  }

  async function change(id: string, text: string) {
    const payload = JSON.stringify({ text })
    await database().run(async (tx) => {
      await tx.updateTable('messages').set({ payload }).where('id', '=', id).execute()
    })
  }

  async function remove(id: string) {
    await database().run(async (tx) => {
      await tx.deleteFrom('messages').where('id', '=', id).execute()
    })
  }

  const place = (): Place => ({ botId: ids.uuid(), conversationId: ids.next('conv') })

  async function find(botIds: string[], text: string, limit = 100) {
    return (await search.find(botIds, toPhraseQuery(text), limit))?.ids.toSorted()
  }

  it('are found at once, and still when they are indexed', async () => {
    const here = place()
    await say(here, 'Where is my order?')
    const expected = [here.conversationId]
    expect(await find([here.botId], 'order')).toEqual(expected)
    await index()
    expect(await find([here.botId], 'ORDER where')).toEqual(expected)
    expect(await find([here.botId], '"my order"')).toEqual(expected)
    expect(await find([here.botId], '"order my"')).toEqual([])
    expect(await find([here.botId], 'parcel')).toEqual([])
    const found = await search.findIn(expected, toPhraseQuery('order'))
    expect([...found]).toEqual(expected)
  })

  it('are indexed a few at a time where messages are long', async () => {
    const here = place()
    for (const number of [1, 2, 3]) await say(here, `parcel${number} ${'x '.repeat(40_000)}`)
    clock.advance(minute)
    while (await indexer.step());
    for (const number of [4, 5, 6]) await say(here, `parcel${number} ${'x '.repeat(40_000)}`)
    clock.advance(minute)
    const steps = [await indexer.step(), await indexer.step(), await indexer.step()]
    expect(steps).toEqual([true, true, false])
    for (const number of [1, 3, 4, 6]) {
      expect(await find([here.botId], `parcel${number}`)).toEqual([here.conversationId])
    }
    const ofBot = database().db.selectFrom('messages').select('id')
    const said = await ofBot.where('bot_id', '=', here.botId).orderBy('id').execute()
    for (const { id } of said) await change(id, `letter ${'x '.repeat(40_000)}`)
    while (await indexer.step());
    expect(await find([here.botId], 'letter')).toEqual([here.conversationId])
    expect(await find([here.botId], 'parcel1')).toEqual([])
  })

  it('are found in the given bots only', async () => {
    const [here, there] = [place(), place()]
    await say(here, 'tea for me')
    await say(there, 'tea for you')
    await index()
    expect(await find([here.botId], 'tea')).toEqual([here.conversationId])
    expect(await find([here.botId, there.botId], 'tea')).toEqual(
      [here.conversationId, there.conversationId].toSorted(),
    )
    expect(await find([ids.uuid()], 'tea')).toEqual([])
    expect(await find([here.botId], `bot${there.botId.replaceAll('-', '')}`)).toEqual([])
  })

  it('are those of the message as it is now, and none of a deleted one', async () => {
    const here = place()
    const id = await say(here, 'coffee')
    await index()
    await change(id, 'cocoa')
    expect(await find([here.botId], 'cocoa')).toEqual([here.conversationId])
    await index()
    expect(await find([here.botId], 'cocoa')).toEqual([here.conversationId])
    expect(await find([here.botId], 'coffee')).toEqual([])
    await remove(id)
    expect(await find([here.botId], 'cocoa')).toEqual([])
    const rows = await database().db.selectFrom('message_words').selectAll().execute()
    expect(rows.filter(({ message_id }) => message_id === id)).toEqual([])
  })

  it('of a scheduled message, whose id is old, are found when it is written', async () => {
    const here = { ...place(), id: ids.next('msg') }
    const { id, botId: bot_id, conversationId: conversation_id } = here
    const now = isoTime(clock.now())
    await database().run(async (tx) => {
      const own = { id, bot_id, conversation_id, user_id: 'user_ann', created_at: now, due_at: now }
      const content = { type: 'text', payload: '{}', direction: 'outgoing' as const }
      await tx
        .insertInto('scheduled_messages')
        .values({ ...own, ...content })
        .execute()
    })
    await say(place(), 'something later')
    await index()
    await say(here, 'a reminder')
    await database().run(async (tx) => {
      await tx.deleteFrom('scheduled_messages').where('id', '=', id).execute()
    })
    expect(await find([bot_id], 'reminder')).toEqual([conversation_id])
    await index()
    expect(await find([bot_id], 'reminder')).toEqual([conversation_id])
  })

  it('are found in old messages of a long conversation', async () => {
    const here = place()
    await say(here, 'the first')
    for (let at = 0; at < 240; at++) {
      clock.advance(1)
      await say(here, 'another')
    }
    const { conversationId } = here
    const find = (text: string) => search.findIn([conversationId], toPhraseQuery(text))
    expect([...(await find('first'))]).toEqual([conversationId])
    expect([...(await find('last'))]).toEqual([])
  })

  it('are read in a long conversation while other work goes on', async () => {
    const here = place()
    for (let at = 0; at < 1000; at++) {
      clock.advance(1)
      await say(here, 'another')
    }
    let turns = 0
    let isDone = false
    const count = () => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    expect([...(await search.findIn([here.conversationId], toPhraseQuery('last')))]).toEqual([])
    isDone = true
    // One between any two statements.
    expect(turns).toBeGreaterThanOrEqual(4)
  })

  it('say that not all are found while too many wait to be indexed', async () => {
    const here = place()
    // Each of many bots is read no further than to its newest ten messages.
    const many = [here.botId, ...Array.from({ length: 400 }, () => ids.uuid())]
    await say(here, 'the very first')
    for (let at = 0; at < 10; at++) await say(here, `another ${at}`)
    const query = toPhraseQuery('first')
    expect(await search.find(many, query, 100)).toEqual({ ids: [], isComplete: false })
    await index()
    const expected = { ids: [here.conversationId], isComplete: true }
    expect(await search.find(many, query, 100)).toEqual(expected)
  })

  it('are too common to be listed when more messages have them than the limit', async () => {
    const here = place()
    for (let at = 0; at < 5; at++) await say(here, `hello ${at}`)
    await index()
    expect(await find([here.botId], 'hello', 5)).toEqual([here.conversationId])
    expect(await find([here.botId], 'hello', 4)).toBeUndefined()
  })

  it('are found in the same conversations however much of them is indexed', async () => {
    const word = fc.constantFrom('tea', 'milk', 'Zürich', '東京都', 'v1.2')
    const said = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
    const which = fc.nat({ max: 20 })
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('say' as const), which, said }) },
      fc.record({ kind: fc.constant('change' as const), which, said }),
      fc.record({ kind: fc.constant('delete' as const), which }),
      fc.record({ kind: fc.constant('wait' as const), seconds: fc.nat({ max: 20 }) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.oneof(
          said,
          said.map((text) => `"${text}"`),
        ),
        async (steps, text) => {
          const [first, second] = [place(), place()]
          const places = [first, second, { ...place(), botId: first.botId }]
          const there: { id: string; place: Place; text: string }[] = []
          for (const one of steps) {
            if (one.kind === 'wait') {
              clock.advance(one.seconds * 1000)
              await indexer.step()
              continue
            }
            const of = places[one.which % places.length]
            const message = there[one.which % Math.max(1, there.length)]
            if (one.kind === 'say') {
              if (of === undefined) continue
              there.push({ id: await say(of, one.said), place: of, text: one.said })
            } else if (message !== undefined && one.kind === 'change') {
              message.text = one.said
              await change(message.id, one.said)
            } else if (message !== undefined) {
              there.splice(there.indexOf(message), 1)
              await remove(message.id)
            }
          }
          const query = toPhraseQuery(text)
          const expected = there
            .filter((one) => one.place.botId === first.botId && matchesText(one.text, query))
            .map((one) => one.place.conversationId)
          const found = await search.find([first.botId], query, 100)
          expect(new Set(found?.ids)).toEqual(new Set(expected))
          const all = places.map((one) => one.conversationId)
          const own = await search.findIn(all, query)
          expect(new Set(found?.ids)).toEqual(
            new Set([...own].filter((id) => id !== second.conversationId)),
          )
        },
      ),
      { numRuns: 100 },
    )
  })

  it('are found by any part of any text, and no text fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), async (text) => {
        const here = place()
        await say(here, text.replaceAll('\0', ''))
        const query = toPhraseQuery(text.replaceAll(/["“”„«»「」\0]/g, ' '))
        if (query.length === 0) return
        const expected = { ids: [here.conversationId], isComplete: true }
        expect(await search.find([here.botId], query, 10)).toEqual(expected)
        await index()
        expect(await search.find([here.botId], query, 10)).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })
})
