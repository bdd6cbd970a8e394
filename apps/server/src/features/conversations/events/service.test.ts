import { beforeAll, expect, it } from 'vitest'
import { ownerOf } from '../../../../test/actors.js'
import { type Chats, createChats, type TestBot } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'

const hour = 60 * 60 * 1000
const day = 24 * hour

describeEachEngine('events of bots', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats
  let bot: TestBot

  beforeAll(async () => {
    chats = await createChats(database())
    bot = await chats.bot()
  })

  const create = (type: string, schedule?: { delay: number }) =>
    chats.events.create(bot.actor, { type, payload: {}, ...(schedule && { schedule }) }, undefined)
  const statusOf = async (id: string) => {
    const { row } = await chats.events.get(bot.actor, id)
    return { status: row.status, reason: row.failure_reason }
  }

  it('record how their delivery to the bot ended, and can be delivered again after a failure', async () => {
    const { row } = await create('noted')
    const { botId } = bot.actor
    const deliveries = [{ botId, kind: 'event_received', subjectId: row.id }] as const
    const settle = (failure: string | null) =>
      chats.run((tx) => chats.events.settle(tx, { deliveries, failure }))
    await settle('x'.repeat(3000))
    expect(await statusOf(row.id)).toEqual({ status: 'failed', reason: 'x'.repeat(2000) })
    await settle(null)
    expect(await statusOf(row.id)).toEqual({ status: 'processed', reason: null })
    await settle('too late')
    expect(await statusOf(row.id)).toEqual({ status: 'processed', reason: null })
  })

  it('that are scheduled happen once, in however many processes their job runs', async () => {
    const other = await createChats(database())
    const { row } = await create('once', { delay: day })
    await Promise.all(
      [chats, other, chats].map(({ events }) => events.release(bot.actor.botId, row.id)),
    )
    expect(await statusOf(row.id)).toEqual({ status: 'pending', reason: null })
  })

  it('are deleted after 30 days, except for scheduled ones', async () => {
    const { row: old } = await create('old')
    const { row: planned } = await create('planned', { delay: 60 * day })
    chats.clock.advance(29 * day)
    expect(await chats.run((tx) => chats.sweepSubjects(tx))).toBe(0)
    chats.clock.advance(2 * day)
    expect(await chats.run((tx) => chats.sweepSubjects(tx))).toBeGreaterThan(0)
    await expect(statusOf(old.id)).rejects.toMatchObject({ type: 'ResourceNotFound' })
    expect(await statusOf(planned.id)).toMatchObject({ status: 'scheduled' })
  })

  it('are kept while a delivery refers to them, and for as long after they happened', async () => {
    const { actor } = await chats.bot()
    const { botId, workspaceId } = actor
    const { events } = chats
    const person = ownerOf(workspaceId)
    await chats.bots.update(person, botId, { url: 'http://127.0.0.1:9/' })
    const make = async (type: string, delay?: number) =>
      (
        await events.create(
          actor,
          { type, payload: {}, ...(delay && { schedule: { delay } }) },
          undefined,
        )
      ).row.id
    const sweep = async () => {
      while ((await chats.run((tx) => chats.sweepSubjects(tx))) > 0);
    }
    const kept = async () => {
      const { rows } = await events.list(actor, {})
      return rows.map(({ row }) => row.type).sort()
    }
    await make('waiting')
    const planned = await make('planned', 60 * day)
    chats.clock.advance(31 * day)
    await sweep()
    expect(await kept()).toEqual(['planned', 'waiting'])
    await chats.run((tx) => tx.deleteFrom('deliveries').where('bot_id', '=', botId).execute())
    await sweep()
    expect(await kept()).toEqual(['planned'])
    chats.clock.advance(30 * day)
    await events.release(botId, planned)
    await chats.run((tx) => tx.deleteFrom('deliveries').where('bot_id', '=', botId).execute())
    chats.clock.advance(29 * day)
    await sweep()
    expect(await kept()).toEqual(['planned'])
    chats.clock.advance(2 * day)
    await sweep()
    expect(await kept()).toEqual([])
  })

  it('recur once per due time, in however many processes their job runs', async () => {
    const other = await createChats(database())
    // Far from the next due time, at which there would be one more.
    chats.clock.advance(1.5 * hour - (chats.clock.now() % hour))
    const { botId } = bot.actor
    const declared = { hourly: { schedule: { cron: '0 * * * *' }, type: 'hour', payload: {} } }
    await chats.run((tx) => chats.slices.recurring.service.declare(tx, botId, declared))
    const fire = (process: Chats) => process.slices.recurring.service.fire(botId, 'hourly')
    const happened = async () => (await chats.events.list(bot.actor, { type: 'hour' })).rows.length
    await fire(chats)
    expect(await happened()).toBe(0)
    chats.clock.advance(day)
    other.clock.advance(chats.clock.now() - other.clock.now())
    await Promise.all([fire(chats), fire(other), fire(chats), fire(other)])
    expect(await happened()).toBe(1)
  })

  it('that a bot missed are delivered up to a limit: the latest ones only', async () => {
    const { botId, workspaceId } = (await chats.bot()).actor
    const minutesAgo = (minutes: number) =>
      new Date(chats.clock.now() - minutes * 60_000).toISOString()
    const missed = (count: number, minutes: number) =>
      Array.from({ length: count }, () => ({
        id: chats.ids.next('evt'),
        bot_id: botId,
        type: 'missed',
        payload: '{}',
        integration: null,
        conversation_id: null,
        user_id: null,
        message_id: null,
        workflow_id: null,
        recurring: null,
        status: 'pending' as const,
        failure_reason: null,
        created_at: minutesAgo(minutes),
      }))
    const early = missed(10, 31)
    const rows = [...early, ...missed(1000, 30)]
    await chats.run(async (tx) => {
      for (let at = 0; at < rows.length; at += 500) {
        await tx
          .insertInto('bot_events')
          .values(rows.slice(at, at + 500))
          .execute()
      }
    })
    const delivered = async () => {
      const deliveries = await chats.db
        .selectFrom('deliveries')
        .select('subject_id')
        .where('bot_id', '=', botId)
        .execute()
      return deliveries.map(({ subject_id }) => subject_id)
    }
    const actor = ownerOf(workspaceId)
    await chats.bots.update(actor, botId, { url: 'http://127.0.0.1:9/' })
    expect(await delivered()).toHaveLength(1000)
    // As a process writes it that has not noticed the address yet.
    const [late] = missed(1, 0)
    if (late !== undefined) {
      await chats.run((tx) => tx.insertInto('bot_events').values(late).execute())
    }
    const { payload } = await chats.db
      .selectFrom('jobs')
      .select('payload')
      .where('key', '=', botId)
      .where('kind', '=', 'events.missed')
      .executeTakeFirstOrThrow()
    await chats.events.backfillRest(JSON.parse(payload))
    const all = await delivered()
    expect(all).toHaveLength(1001)
    expect(all).toContain(late?.id)
    expect(early.filter(({ id }) => all.includes(id))).toEqual([])
  })

  it('that a bot missed stay undelivered when the operator switches the backfill off', async () => {
    const strict = await createChats(database(), { environment: { BOTSTEAD_MISSED_EVENTS: '0' } })
    const { actor } = await strict.bot()
    const { botId, workspaceId } = actor
    await strict.events.create(actor, { type: 'missed', payload: {} }, undefined)
    const workspace = ownerOf(workspaceId)
    await strict.bots.update(workspace, botId, { url: 'http://127.0.0.1:9/' })
    const deliveries = () => strict.db.selectFrom('deliveries').where('bot_id', '=', botId)
    expect(await deliveries().select('id').execute()).toEqual([])
    await strict.events.create(actor, { type: 'heard', payload: {} }, undefined)
    expect(await deliveries().select('id').execute()).toHaveLength(1)
  })
})
