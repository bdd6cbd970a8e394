import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@botstead/contract'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { isoTime } from '../../src/platform/clock.js'
import { type Database, openDatabase } from '../../src/platform/db/open.js'
import { createIds } from '../../src/platform/ids.js'
import { describeEachEngine } from '../engines.js'
import { startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
/** More than are indexed in one transaction, and than are read besides the index. */
const total = 2500
const perConversation = 100
const day = 24 * 60 * 60 * 1000
const patience = { timeout: 60_000, interval: 5 }

describeEachEngine('the words of messages under kill -9', (engine) => {
  it('are indexed once of each message that was there before', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'botstead-words-'))
    const place = await engine.createPlace(true)
    const { url } = place.options
    const options = url === undefined ? { file: join(dataDir, 'botstead.db') } : { url }
    const environment = {
      BOTSTEAD_DATA_DIR: dataDir,
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
      ...(url !== undefined && { DATABASE_URL: url }),
    }
    try {
      const botId = await createBot(environment)
      await using database = await openDatabase(options)
      const conversations = await writeMessages(database, botId)
      // Killed at the first sign of work, and in the middle of it.
      for (const least of [1, 800, 1600]) {
        await using server = await startServerProcess(environment)
        await vi.waitUntil(async () => (await countIndexed(database)) >= least, patience)
        await server.kill()
      }
      await using server = await startServerProcess(environment)
      await vi.waitUntil(async () => (await countIndexed(database)) >= total, patience)
      expect(await countIndexed(database)).toBe(total)
      const client = await connect(server.url)
      for (const [at, id] of conversations.entries()) {
        // The last message of each conversation.
        const text = wordOf((at + 1) * perConversation - 1)
        const { conversations: found } = await client.listWorkspaceConversations({ text })
        expect(found.map((one) => one.id)).toEqual([id])
      }
    } finally {
      await place.remove()
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

async function connect(baseUrl: string): Promise<Client> {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  return createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
}

async function createBot(environment: Record<string, string>): Promise<string> {
  await using server = await startServerProcess(environment)
  const { bot } = await (await connect(server.url)).createBot({})
  await server.stop()
  return bot.id
}

const wordOf = (at: number) => `word${at}`

/** Writes messages as a release without the index did; returns the ids of their conversations. */
async function writeMessages({ run }: Database, botId: string): Promise<string[]> {
  const time = Date.now() - day
  const ids = createIds({ now: () => time })
  const at = isoTime(time)
  const conversations = Array.from({ length: total / perConversation }, () => ids.next('conv'))
  await run(async (tx) => {
    for (const [number, id] of conversations.entries()) {
      const own = { id, bot_id: botId, integration: 'chat', channel: 'web' }
      const counts = { claimable: 0, message_count: perConversation, last_message_at: time }
      const blank = { tags: '{}', properties: '{}', created_at: at, updated_at: at }
      const row = { ...own, ...counts, ...blank, last_sequence: perConversation }
      await tx.insertInto('conversations').values(row).execute()
      const messages = Array.from({ length: perConversation }, (_, sequence) => ({
        id: ids.next('msg'),
        bot_id: botId,
        conversation_id: id,
        user_id: botId,
        type: 'text',
        payload: JSON.stringify({ text: wordOf(number * perConversation + sequence) }),
        direction: 'outgoing' as const,
        sequence,
        created_at: at,
      }))
      await tx.insertInto('messages').values(messages).execute()
    }
  })
  return conversations
}

/** Entries of the index; on SQLite the words are in a table of their own, which has as many. */
async function countIndexed({ db, dialect }: Database): Promise<number> {
  const table = dialect.choose({ sqlite: 'message_word_index', postgres: 'message_words' })
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)}
  `.execute(db)
  return Number(rows[0]?.count)
}
