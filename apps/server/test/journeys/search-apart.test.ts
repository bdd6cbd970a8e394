import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { describeSlow, type TestEngine } from '../engines.js'
import { blockedUntil } from '../fixtures/blocked-find-words.js'
import { startTestServer, type TestServer } from '../harness.js'
import { programEntry } from '../programs.js'

const environment = { BOTSTEAD_SEARCHES_AT_ONCE: '1', BOTSTEAD_SEARCH_TIMEOUT_MS: '5m' }
const options = { findEntry: programEntry('blocked-find-worker') }

/** Blocks one search for as long as the test needs. */
async function blockSearch(engine: TestEngine, server: TestServer) {
  if (engine.name === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-blocked-'))
    const file = join(folder, 'go')
    return {
      query: `${blockedUntil}${file}`,
      release: () => writeFile(file, ''),
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  }
  const database = await openDatabase({ url: server.server.config.databaseUrl ?? '' })
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let locked = () => {}
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve
  })
  const holding = database.run(async (tx) => {
    await sql`lock table passages in access exclusive mode`.execute(tx)
    locked()
    await released
  })
  await isLocked
  return {
    query: 'anything',
    release: async () => {
      release()
      await holding
    },
    remove: () => database.close(),
  }
}

describeSlow('a slow search', (engine) => {
  it('does not block messages or other requests', async () => {
    const server = await startTestServer(engine, environment, undefined, options)
    try {
      const { bot } = await server.client().createBot({})
      const inBot = server.client({ botId: bot.id })
      const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
      const { key: userKey } = await server.client({ webhookId }).chatCreateUser({})
      const chat = server.client({ webhookId, userKey })
      const { conversation } = await chat.chatCreateConversation({})

      const block = await blockSearch(engine, server)
      let answered = false
      const search = inBot.searchFiles({ query: block.query }).finally(() => {
        answered = true
      })
      const text = { type: 'text' as const, text: 'still here' }
      for (let count = 0; count < 20; count++) {
        await chat.chatCreateMessage({ conversationId: conversation.id, payload: text })
      }
      expect((await inBot.listFiles({})).files).toEqual([])
      expect(answered).toBe(false)
      await block.release()
      expect((await search).passages).toEqual([])
      await block.remove()
    } finally {
      await server.close()
    }
  })

  it('is aborted with a timeout error', async () => {
    const hurry = { ...environment, BOTSTEAD_SEARCH_TIMEOUT_MS: '3s' }
    const server = await startTestServer(engine, hurry, undefined, options)
    try {
      const { bot } = await server.client().createBot({})
      const inBot = server.client({ botId: bot.id })
      const block = await blockSearch(engine, server)
      await expect(inBot.searchFiles({ query: block.query })).rejects.toMatchObject({
        type: 'OperationTimeout',
        message: expect.stringContaining('3000 ms'),
      })
      await block.release()
      // The thread that replaces the old one needs a moment to start.
      const { passages } = await vi.waitFor(() => inBot.searchFiles({ query: 'anything' }), 15_000)
      expect(passages).toEqual([])
      await block.remove()
    } finally {
      await server.close()
    }
  })
})
