import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { createPostgresDatabase, dropPostgresDatabase } from '../../../test/postgres.js'
import { listen, recordedLog, testEventBus, until } from './conformance.js'
import type { EventBus } from './event-bus.js'
import { openPostgresBus } from './postgres.js'

const server = inject('postgresUrl')

describe.skipIf(!server)('with PostgreSQL', () => {
  let url: string
  const open: EventBus[] = []

  beforeAll(async () => {
    url = await createPostgresDatabase(server)
  })

  afterEach(async () => {
    for (const bus of open.splice(0)) await bus[Symbol.asyncDispose]()
  })

  afterAll(() => dropPostgresDatabase(server, url))

  testEventBus('PostgreSQL, one process', async (log) => {
    const bus = await openPostgresBus(url, log)
    return { publisher: bus, listener: bus }
  })

  testEventBus('PostgreSQL, two processes', async (log) => {
    const [publisher, listener] = [await openPostgresBus(url, log), await openPostgresBus(url, log)]
    return { publisher, listener }
  })

  async function openBus() {
    const { log, lines } = await recordedLog()
    const bus = await openPostgresBus(url, log)
    open.push(bus)
    return { bus, lines }
  }

  async function query(statement: string, values: unknown[] = []): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return await client.query(statement, values)
    } finally {
      await client.end()
    }
  }

  const killConnections = () =>
    query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'botstead bus' and datname = current_database()`)

  describe('a lost connection', () => {
    it('comes back, listeners are notified to read again, and hints flow as before', async () => {
      const [one, other] = [await openBus(), await openBus()]
      const topic = 'lost'
      const byKey = listen(other.bus, { topic, key: 'a' })
      const all = listen(other.bus, { topic })
      await killConnections()
      await until(() => byKey.heard.gaps > 0 && all.heard.gaps > 0)
      expect(byKey.heard.gaps).toBe(1)
      await until(() => one.lines.join().includes('is back'))
      one.bus.publish({ topic, key: 'a', seq: 9 })
      await until(() => byKey.hints.length > 0)
      expect(byKey.hints).toEqual([{ topic, key: 'a', seq: 9 }])
      expect(other.lines.join()).toContain('was lost')
    })

    it('delays hints that are published meanwhile, here not at all, elsewhere until it is back', async () => {
      const [one, other] = [await openBus(), await openBus()]
      const topic = 'meanwhile'
      const here = listen(one.bus, { topic })
      const there = listen(other.bus, { topic })
      await killConnections()
      await until(() => one.lines.join().includes('was lost'))
      for (let seq = 1; seq <= 100; seq++) one.bus.publish({ topic, key: 'a', seq })
      await until(() => here.hints.length > 0)
      // The other process either hears the hint late or is notified to read again after it.
      await until(() => there.hints.length > 0 || there.heard.gaps > 0)
      await until(() => one.lines.join().includes('is back'))
      one.bus.publish({ topic, key: 'a', seq: 101 })
      await until(() => there.hints.at(-1)?.seq === 101)
      expect(here.hints[0]).toEqual({ topic, key: 'a', seq: 100 })
    })
  })

  it('sends the hints of a turn in few notifications', async () => {
    const { bus } = await openBus()
    const listener = new pg.Client({ connectionString: url })
    await listener.connect()
    const payloads: string[] = []
    listener.on('notification', ({ payload }) => payloads.push(payload ?? ''))
    await listener.query('listen botstead_hints')
    for (let seq = 0; seq < 1_000; seq++) bus.publish({ topic: 'many', key: `log-${seq}`, seq })
    await until(() => payloads.join().includes('log-999'))
    await listener.end()
    expect(payloads.length).toBeLessThan(6)
  })

  it('tells other processes to read again when there are more hints than it remembers', async () => {
    const [one, other] = [await openBus(), await openBus()]
    const topic = 'too-many'
    const { heard, hints } = listen(other.bus, { topic })
    for (let at = 0; at <= 10_000; at++) one.bus.publish({ topic, key: `log-${at}` })
    await until(() => heard.gaps > 0)
    expect(heard.gaps).toBe(1)
    one.bus.publish({ topic, key: 'next' })
    await until(() => hints.at(-1)?.key === 'next')
    expect(heard.gaps).toBe(1)
  })

  it('sends what was published last before it closes', async () => {
    const [one, other] = [await openBus(), await openBus()]
    const { hints } = listen(other.bus, { topic: 'last' })
    one.bus.publish({ topic: 'last', key: 'a' })
    await one.bus[Symbol.asyncDispose]()
    await until(() => hints.length === 1)
  })

  it('passes over notifications of other programs', async () => {
    const { bus, lines } = await openBus()
    const { hints } = listen(bus, { topic: 'foreign' })
    const ours = JSON.stringify({ from: 'another process', hints: [['foreign', 'a', 1]] })
    for (const payload of ['nonsense', '', ours]) {
      await query(`select pg_notify('botstead_hints', $1)`, [payload])
    }
    await until(() => hints.length > 0)
    expect(hints).toEqual([{ topic: 'foreign', key: 'a', seq: 1 }])
    expect(lines.filter((line) => line.includes('another program'))).toHaveLength(2)
  })

  it('does not open without a database', async () => {
    const { log } = await recordedLog()
    const missing = new URL(url)
    missing.pathname = '/not_there'
    await expect(openPostgresBus(missing.href, log)).rejects.toMatchObject({ code: '3D000' })
  })

  it('leaves no connection behind when it is closed', async () => {
    const { bus } = await openBus()
    await bus[Symbol.asyncDispose]()
    const count = async () => {
      const { rows } = await query(`select count(*)::int as count from pg_stat_activity
        where application_name = 'botstead bus' and datname = current_database()`)
      return rows[0]?.count
    }
    await until(async () => (await count()) === 0)
  })
})
