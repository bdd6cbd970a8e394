import { createClient } from '@botstead/contract'
import pg from 'pg'
import { describe, expect, inject, it, vi } from 'vitest'
import { dialectOf } from '../../src/platform/db/dialect.js'
import { engines } from '../engines.js'
import { useServer } from '../harness.js'
import { inDatabase } from './seed.js'
import { countWaiting, patientWithLocks } from './waiting.js'

describe.skipIf(!inject('postgresUrl'))('deletions at the same time', () => {
  const server = useServer(
    engines.find(({ name }) => name === 'postgres'),
    {},
    patientWithLocks,
  )

  /** Deadlocks of the database: its connections report them at their end. */
  async function deadlocks(): Promise<number> {
    const url = server().server.config.databaseUrl ?? ''
    const client = new pg.Client({ connectionString: inject('postgresUrl') })
    await client.connect()
    try {
      const name = [new URL(url).pathname.slice(1)]
      await client.query(
        'select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1',
        name,
      )
      const text = 'select deadlocks from pg_stat_database where datname = $1'
      const { rows } = await client.query(text, name)
      return Number(rows[0]?.deadlocks)
    } finally {
      await client.end()
    }
  }

  it('a user and their conversation are deleted at the same time without a deadlock', async () => {
    const { url: baseUrl } = server()
    const { bot } = await server().client().createBot({})
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
    const chat = createClient({ baseUrl, webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const under: Promise<unknown>[] = []
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        const row = tx.selectFrom('conversations').select('id').where('bot_id', '=', bot.id)
        await dialectOf(tx).lockRows(row).execute()
        under.push(chat.chatDeleteConversation({ id: conversation.id }))
        await vi.waitUntil(async () => (await countWaiting(tx)) === 1)
        under.push(chat.chatDeleteUser({}))
        await vi.waitUntil(async () => (await countWaiting(tx)) === 2)
      }),
    )
    await Promise.all(under)
    expect(await deadlocks()).toBe(0)
  })
})
