import { createClient } from '@botstead/contract'
import { describe, expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { runCommand, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'

const postgres = engines.find(({ name }) => name === 'postgres')

describe('two processes that start at once on an empty database or folder', () => {
  it.skipIf(!postgres)('share one installation on PostgreSQL', async () => {
    await using place = await createCommandPlace(postgres, { isEmpty: true })
    const environment = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token }
    const processes = await Promise.all([
      startServerProcess(environment),
      startServerProcess(environment),
    ])
    const [one, two] = processes
    try {
      const shown = () => processes.filter((server) => server.output().includes('shown once'))
      await vi.waitFor(() => expect(shown()).toHaveLength(1))
      for (const { url: baseUrl } of processes) {
        const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
        expect(workspaces.map(({ name }) => name)).toEqual(['Default'])
      }
      await expectOneHome(one.url, two.url)
      await expectOneHome(two.url, one.url)
      for (const server of processes) expect(server.output()).not.toMatch(/"level":"error"/)
      expect(shown()).toHaveLength(1)
    } finally {
      expect(await Promise.all(processes.map((server) => server.stop()))).toEqual([0, 0])
    }
  })

  it('do not both serve one folder with SQLite; a crash does not block the next start', async () => {
    await using place = await createCommandPlace(undefined, { isEmpty: true })
    const first = await startServerProcess(place.environment)
    const second = await runCommand(['start'], { ...place.environment, PORT: '0' })
    expect(second.status).toBe(1)
    expect(second.stderr).toContain(`Another server works on ${place.dataDir}`)
    await first.kill()
    const third = await startServerProcess(place.environment)
    expect(await third.stop()).toBe(0)
  })
})

async function expectOneHome(here: string, there: string): Promise<void> {
  const { workspaces } = await createClient({ baseUrl: here, token }).listWorkspaces()
  const login = { token, workspaceId: workspaces[0]?.id ?? '' }
  const { bot } = await createClient({ baseUrl: here, ...login }).createBot({ name: 'Shared' })
  const { bots } = await createClient({ baseUrl: there, ...login }).listBots()
  expect(bots.map(({ id }) => id)).toContain(bot.id)

  // A key of one process is valid at the other, and so is a page token.
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await createClient({ baseUrl: here, webhookId }).chatCreateUser({})
  const chatHere = createClient({ baseUrl: here, webhookId, userKey })
  const chatThere = createClient({ baseUrl: there, webhookId, userKey })
  const { conversation } = await chatThere.chatCreateConversation({})
  const conversationId = conversation.id
  const sides = [chatHere, chatThere]
  const texts = Array.from({ length: 60 }, (_, i) => `message ${i}`)
  for (const [i, text] of texts.entries()) {
    await sides[i % 2]?.chatCreateMessage({ conversationId, payload: { type: 'text', text } })
  }
  const first = await chatHere.chatListMessages({ conversationId })
  const { nextToken = '' } = first.meta
  const second = await chatThere.chatListMessages({ conversationId, nextToken })
  const all = [...first.messages, ...second.messages].map(({ payload }) => payload.text)
  expect(all).toEqual(texts.toReversed())

  // A signed address of one process is valid at the other, whatever address it contains.
  const runtime = createClient({ baseUrl: here, token, botId: bot.id })
  const { file } = await runtime.upsertFile({ key: 'pump.md', size: 12, index: true })
  const upload = `${there}${new URL(file.uploadUrl).pathname}`
  expect((await fetch(upload, { method: 'PUT', body: 'Pumps leak.\n' })).status).toBe(200)
  await vi.waitFor(async () => {
    const { status } = (await runtime.getFile({ id: file.id })).file
    expect(status).toBe('indexing_completed')
  })
  const other = createClient({ baseUrl: there, token, botId: bot.id })
  const { passages } = await other.searchFiles({ query: 'leak' })
  expect(passages.map((passage) => passage.file.id)).toEqual([file.id])
}
