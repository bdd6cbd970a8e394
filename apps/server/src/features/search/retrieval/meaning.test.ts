import { type Client, createClient } from '@botstead/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useEmbeddings } from '../../../../test/embeddings.js'
import { engines } from '../../../../test/engines.js'
import { startTestServer, type TestServer } from '../../../../test/harness.js'
import { freePort } from '../../../../test/ports.js'
import { startServer } from '../../../app/container.js'
import { loadConfig } from '../../../config/config.js'
import { type Database, openDatabase } from '../../../platform/db/open.js'
import { createLog } from '../../../platform/telemetry/log.js'
import { findServing } from '../vectors/space-store.js'
import { createRanker } from './ranker.js'

const [sqlite] = engines
const patience = { timeout: 15_000, interval: 100 }

async function start(environment: Record<string, string> = {}) {
  if (sqlite === undefined) throw new Error('There is no engine to test on')
  const server = await startTestServer(sqlite, environment)
  const database = await openDatabase({ file: `${server.server.config.dataDir}/botstead.db` })
  return { server, database }
}

async function newBot(server: TestServer): Promise<{ id: string; client: Client }> {
  const { bot } = await server.client().createBot({})
  const options = { baseUrl: server.url, token: server.token, botId: bot.id }
  return { id: bot.id, client: createClient(options) }
}

async function upload(client: Client, key: string, content: string): Promise<void> {
  const { file } = await client.upsertFile({ key, size: Buffer.byteLength(content), index: true })
  await fetch(file.uploadUrl, { method: 'PUT', body: content })
  await vi.waitFor(async () => {
    const { file: now } = await client.getFile({ id: file.id })
    expect(now.status).toBe('indexing_completed')
  }, patience)
}

async function ask(client: Client, query: string): Promise<string[]> {
  const { passages } = await client.searchFiles({ query, contextDepth: 0 })
  return passages.map(({ content }) => content)
}

/** Contents that are found by meaning alone. */
async function askMeaning(database: Database, botId: string, query: string): Promise<string[]> {
  const ranker = createRanker({ dialect: database.dialect, weights: { semantic: 1 } })
  const scope = { botId, integrationId: undefined, now: new Date().toISOString() }
  const { passages } = await ranker.rank(database.db, { query, scope, tags: [], limit: 20 })
  const numbers = passages.map(({ number }) => number)
  if (numbers.length === 0) return []
  const rows = await database.db
    .selectFrom('passages')
    .select('content')
    .where('number', 'in', numbers)
    .execute()
  return rows.map(({ content }) => content)
}

async function count(database: Database, table: string, botId: string): Promise<number> {
  const filter =
    table === 'passage_vectors'
      ? sql`number in (select number from passages where bot_id = ${botId})`
      : sql`bot_id = ${botId}`
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${filter}
  `.execute(database.db)
  return Number(rows[0]?.count)
}

async function countAll(database: Database): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) as count from passage_vectors`.execute(database.db)
  return Number(rows[0]?.count)
}

async function servingSpace(database: Database, botId: string): Promise<number | undefined> {
  return (await findServing(database.db, botId))?.number
}

describe('meaning that is learned from the passages', () => {
  let running: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    running = await start()
  })
  afterAll(async () => {
    await running.database.close()
    await running.server.close()
  })

  const sections = (subject: string, words: string[][]) =>
    Array.from({ length: 25 }, (_, at) => {
      const pick = words.map((list) => list[at % list.length])
      return `## ${subject} ${at}\n\nThe ${pick.join(' and the ')} of unit u${subject}${at}z.`
    }).join('\n\n')
  const manual = [
    sections('north', [
      ['valve', 'pump'],
      ['water', 'pipe', 'valve'],
      ['pressure', 'leak', 'water'],
    ]),
    sections('south', [
      ['oven', 'dough'],
      ['bread', 'flour', 'oven'],
      ['yeast', 'crust', 'bread'],
    ]),
  ].join('\n\n')

  it('is searched in one bot only, and leaves nothing behind', async () => {
    const { server, database } = running
    const [mine, other] = [await newBot(server), await newBot(server)]
    await upload(mine.client, 'manual.md', manual)
    await upload(other.client, 'other.md', '# Note\n\nThe valve of another bot.')
    await vi.waitFor(async () => {
      // No word stem is equal.
      const related = await askMeaning(database, mine.id, 'pressurising')
      expect(related.length).toBeGreaterThan(0)
      expect(related.every((text) => text.includes('pressure'))).toBe(true)
    }, patience)
    expect((await ask(mine.client, 'pressure')).some((text) => text.includes('another bot'))).toBe(
      false,
    )
    expect(await ask(other.client, 'water')).toEqual([])
    await vi.waitFor(async () => {
      expect(await count(database, 'passages_without_vector', mine.id)).toBe(0)
    }, patience)
    expect(await count(database, 'passage_vectors', mine.id)).toBe(50)
    expect(await count(database, 'semantic_spaces', other.id)).toBe(0)

    // A later passage is placed among the others without a new model.
    await upload(mine.client, 'later.md', '# Later\n\nA valve under pressure.')
    await vi.waitFor(async () => {
      expect(await count(database, 'passage_vectors', mine.id)).toBe(51)
    }, patience)

    await server.client().deleteBot({ id: mine.id })
    // A deleted bot is purged after ten seconds.
    await server.pass(11_000)
    await vi.waitFor(async () => {
      expect(await count(database, 'semantic_spaces', mine.id)).toBe(0)
      expect(await countAll(database)).toBe(0)
    }, patience)
  })

  it('is never that of a deleted bot', async () => {
    // One thread, so that it keeps the cache of the first bot.
    const { server, database } = await start({ BOTSTEAD_SEARCHES_AT_ONCE: '1' })
    const learnt = async (content: string, query: string) => {
      const { id, client } = await newBot(server)
      await upload(client, 'manual.md', content)
      await vi.waitFor(async () => {
        const { passages } = await client.searchFiles({ query, explain: true })
        expect(passages[0]?.explanation?.semantic).toBeGreaterThan(0)
      }, patience)
      return id
    }
    const first = await learnt(manual, 'pressure leak')
    await server.client().deleteBot({ id: first })
    await server.pass(11_000)
    await vi.waitFor(async () => {
      expect(await count(database, 'semantic_spaces', first)).toBe(0)
    }, patience)
    const vehicles = [
      sections('left', [['wheel'], ['axle', 'brake']]),
      sections('right', [['engine'], ['fuel', 'piston']]),
    ]
    await learnt(vehicles.join('\n\n'), 'axle wheel')
    await database.close()
    await server.close()
  })

  it('works while the model is fitted again, without losing or duplicating passages', async () => {
    const { server, database } = running
    const { id, client } = await newBot(server)
    await upload(client, 'manual.md', manual)
    const settled = async (passages: number) => {
      expect(await count(database, 'passages_without_vector', id)).toBe(0)
      expect(await count(database, 'passage_vectors', id)).toBe(passages)
      expect(await count(database, 'semantic_spaces', id)).toBe(1)
    }
    await vi.waitFor(() => settled(50), patience)
    const first = await servingSpace(database, id)
    // The first search starts its thread, which takes as long as all that follows.
    await ask(client, 'pressure leak')

    // So many more that the model must be fitted again; the last ones are uploaded while it is made.
    const uploads = Array.from({ length: 6 }, (_, at) => async () => {
      await upload(client, `more-${at}.md`, sections(`part${at}`, [['wheel'], ['axle', 'brake']]))
    })
    let isMade = false
    let beside = 0
    const searches = (async () => {
      while (!isMade) {
        const waiting = await count(database, 'passages_without_vector', id)
        expect((await ask(client, 'pressure leak'))[0]).toContain('pressure')
        if (waiting > 0) beside += 1
      }
    })()
    for (const more of uploads) await more()
    await vi.waitFor(async () => {
      await settled(200)
      expect(await servingSpace(database, id)).not.toBe(first)
    }, patience)
    isMade = true
    await searches
    expect(beside).toBeGreaterThan(0)
  })

  it.each(['xyzzy plugh', 'qwertzuiop', '12345678', '???'])(
    'finds nothing for %s',
    async (query) => {
      const { client } = await newBot(running.server)
      await upload(client, 'manual.md', manual)
      expect(await ask(client, query)).toEqual([])
    },
  )

  it('finds a misspelt word, a part of a compound, and a part number as it stands', async () => {
    const { client } = await newBot(running.server)
    await upload(
      client,
      'parts.md',
      '# Parts\n\n## One\n\nStrikethrough text.\n\n## Zwei\n\nDie Wartung der Anlage.\n\n## Three\n\nOrder AX-1200/7 today.\n\n## Four\n\nOrder AX-1200/8 or 7 of AX-1300.',
    )
    expect((await ask(client, 'stikethrough'))[0]).toContain('Strikethrough')
    expect((await ask(client, 'Wartungsvertrag'))[0]).toContain('Wartung')
    expect((await ask(client, 'AX-1200/7'))[0]).toContain('AX-1200/7')
    expect((await ask(client, '"1200/8 or"'))[0]).toContain('AX-1200/8')
  })
})

describe('meaning by an embeddings endpoint', async () => {
  const fake = useEmbeddings(await freePort())
  let running: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    running = await start({
      BOTSTEAD_EMBEDDINGS_URL: fake.url,
      BOTSTEAD_EMBEDDINGS_MODEL: 'small',
    })
  })
  afterAll(async () => {
    await running.database.close()
    await running.server.close()
  })

  /**
   * Waits until the assertion holds. An endpoint that has failed, or was too slow on a busy machine, is called
   * again only after a pause, which passes between two attempts.
   */
  const inTime = (server: TestServer, assertion: () => Promise<void>) =>
    vi.waitFor(async () => {
      try {
        await assertion()
      } catch (error) {
        await server.pass(11_000)
        throw error
      }
    }, patience)
  const expectAuto = (server: TestServer, client: Client) =>
    inTime(server, async () => expect((await ask(client, 'car'))[0]).toContain('auto'))

  it('finds texts without a common word, and by words alone when the endpoint is down', async () => {
    const { server } = running
    const { client } = await newBot(server)
    await upload(client, 'a.md', '# One\n\nMy automobile is red.\n\n# Two\n\nThe physician is in.')
    await expectAuto(server, client)
    fake.mood = 'down'
    expect(await ask(client, 'doctor')).toEqual([])
    expect((await ask(client, 'physician today'))[0]).toContain('physician')
    fake.mood = 'well'
    await inTime(server, async () => {
      expect((await ask(client, 'doctor'))[0]).toContain('physician')
    })
  })

  it('finds texts by words alone while the endpoint gives vectors for texts of nobody', async () => {
    const { server } = running
    const { client } = await newBot(server)
    await upload(client, 'a.md', '# One\n\nThe automobile is red.\n\n# Two\n\nThe medic is in.')
    await expectAuto(server, client)
    const embedding = [0.01, 1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01]
    fake.hostile = JSON.stringify({ data: [{ index: 30_000_000, embedding }] })
    try {
      // Not asked before: the vectors of questions are kept.
      expect(await ask(client, 'doctors')).toEqual([])
      expect((await ask(client, 'medic today'))[0]).toContain('medic')
    } finally {
      fake.hostile = undefined
    }
    await inTime(server, async () => {
      expect((await ask(client, 'doctors'))[0]).toContain('medic')
    })
  })

  it('outranks a few common letters when no passage has the word', async () => {
    const { client } = await newBot(running.server)
    const passages = ['She stood beside the wall.', 'The stream is cold.', 'The physician is in.']
    // On a tie, the one with the letters would come first.
    await upload(client, 'a.md', passages.map((text, at) => `# No ${at}\n\n${text}`).join('\n\n'))
    await inTime(running.server, async () => {
      const [first, ...others] = await ask(client, 'creekside')
      expect(first).toContain('stream')
      expect(others[0]).toContain('beside')
    })
  })

  it('continues with other passages when one is refused', async () => {
    const { client, id } = await newBot(running.server)
    fake.mood = 'refusing long texts'
    const long = `${'word '.repeat(210)}river.`
    await upload(client, 'a.md', `# One\n\n${long}\n\n# Two\n\nThe loaf is warm.`)
    await inTime(running.server, async () => {
      expect((await ask(client, 'bakery'))[0]).toContain('loaf')
      expect(await count(running.database, 'passages_without_vector', id)).toBe(0)
    })
    fake.mood = 'well'
  })

  it('makes vectors again when the endpoint returns another length, and not for a single odd response', async () => {
    const { server, database } = running
    const { client, id } = await newBot(server)
    await upload(client, 'a.md', '# One\n\nMy automobile is red.\n\n# Two\n\nThe physician is in.')
    await expectAuto(server, client)
    const before = await findServing(database.db, id)

    fake.mood = 'odd once'
    await upload(client, 'b.md', '# Three\n\nThe loaf is warm.')
    await vi.waitFor(async () => {
      const job = await database.db
        .selectFrom('jobs')
        .select('last_error')
        .where('key', '=', id)
        .executeTakeFirst()
      expect(job?.last_error).toContain('returned vectors of 9 numbers, and 8 before')
    }, patience)
    await server.pass(3_600_000)
    await inTime(server, async () => {
      expect((await ask(client, 'bakery'))[0]).toContain('loaf')
    })
    expect(await servingSpace(database, id)).toBe(before?.number)

    // The first question detects it, and its search uses words.
    fake.padding += 2
    await inTime(server, async () => {
      expect((await ask(client, 'red river'))[0]).toContain('red')
      expect((await ask(client, 'medic'))[0]).toContain('physician')
    })
    const after = await findServing(database.db, id)
    expect(after).toMatchObject({ dimensions: 10, embedder: before?.embedder })
    expect(after?.number).not.toBe(before?.number)
    expect(await count(database, 'semantic_spaces', id)).toBe(1)
    expect(await count(database, 'passage_vectors', id)).toBe(3)
    fake.padding -= 2
  })

  it('uses the former model until the new one has made all vectors', async () => {
    const embeddings = { BOTSTEAD_EMBEDDINGS_URL: fake.url }
    const { server, database } = await start({ ...embeddings, BOTSTEAD_EMBEDDINGS_MODEL: 'small' })
    const { client, id } = await newBot(server)
    await upload(client, 'a.md', '# One\n\nMy automobile is red.\n\n# Two\n\nThe physician is in.')
    await expectAuto(server, client)
    const before = await servingSpace(database, id)
    await server.server.stop(5000)

    fake.mood = 'without the large model'
    const { config } = loadConfig({
      ...embeddings,
      BOTSTEAD_EMBEDDINGS_MODEL: 'large',
      PORT: '0',
      BOTSTEAD_DATA_DIR: server.server.config.dataDir,
    })
    const log = await createLog({ level: 'silent' })
    const { clock } = server
    const again = await startServer({ config, clock, timers: clock, log, checkResponses: true })
    const anew = createClient({ baseUrl: again.address, token: server.token, botId: id })
    const modelOf = async (query: string, found: string) => {
      const { length } = fake.calls
      expect((await ask(anew, query))[0]).toContain(found)
      return fake.calls.slice(length).map(({ model }) => model)
    }
    await upload(anew, 'b.md', '# Three\n\nThe loaf is warm.')
    await vi.waitFor(() => expect(fake.calls.map(({ model }) => model)).toContain('large'))
    await inTime(server, async () => {
      expect(await modelOf('medic', 'physician')).toContain('small')
    })
    expect(await servingSpace(database, id)).toBe(before)

    fake.mood = 'well'
    await inTime(server, async () => {
      expect(await servingSpace(database, id)).not.toBe(before)
      expect(await modelOf('creek or doctor', 'physician')).toEqual(['large'])
    })
    expect(await count(database, 'semantic_spaces', id)).toBe(1)
    expect(await count(database, 'passage_vectors', id)).toBe(3)
    await database.close()
    await again.stop(5000)
    await server.close()
  })
})
