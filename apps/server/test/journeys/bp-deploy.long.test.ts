import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useBp } from '../bp.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { addAccount } from '../tenant.js'

describe('bp deploy of a bot', () => {
  const server = useServer()
  const bp = useBp()
  let folder = ''
  beforeAll(async () => {
    await bp().login(server())
    folder = await bp().project('echo-bot')
  })

  it('creates a bot, and updates that one from then on', async () => {
    const admin = existingClient(server())
    await bp().succeed(['deploy', '--workDir', folder, '--createNewBot'])
    const cache = await readFile(join(folder, '.botpress/project.cache.json'), 'utf8')
    const { botId } = JSON.parse(cache)
    const { bot } = await admin.getBot({ id: botId })
    expect(bot).toMatchObject({
      dev: false,
      deployedAt: expect.any(String),
      states: { seen: { type: 'user', schema: { required: ['count'] } } },
    })
    // The built-in chat is not in the project, which the command takes for a removal.
    expect(Object.keys(bot.integrations)).toHaveLength(1)
    const webhook = Object.values(bot.integrations)[0]?.webhookUrl
    const again = await bp().succeed(['deploy', '--workDir', folder, '--botId', botId])
    expect(again.output).toContain('Bot deployed')
    expect(again.output).toContain(webhook)
    const bots = await admin.list.bots({}).collect()
    expect(bots.map(({ id }) => id)).toEqual([botId])
  })

  it('says why it cannot deploy to a bot that is not there', async () => {
    const failed = await bp().run(['deploy', '--workDir', folder, '--botId', 'nobody', '--noBuild'])
    expect(failed).toMatchObject({ status: 1, output: expect.stringContaining('nobody') })
  })

  it('installs the integrations that the bot declares', async () => {
    const admin = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    await admin.updateWorkspace({ id: server().workspaceId, handle: 'acme' })
    const messenger = await bp().project('messenger')
    await bp().succeed(['deploy', '--workDir', messenger, '--secrets', 'API_KEY=key'])
    const user = await bp().project('messenger-bot')
    await bp().succeed(['add', 'acme/messenger@0.1.0', '--workDir', user])
    await bp().succeed(['deploy', '--workDir', user, '--createNewBot'])
    const cache = await readFile(join(user, '.botpress/project.cache.json'), 'utf8')
    const { bot } = await admin.getBot({ id: JSON.parse(cache).botId })
    const installed = Object.values(bot.integrations).find(({ name }) => name === 'acme/messenger')
    expect(installed).toMatchObject({
      enabled: true,
      version: '0.1.0',
      configuration: { serviceUrl: 'http://127.0.0.1:9' },
    })
  })
})

describe('bp add of what is in the hub', () => {
  const server = useServer()
  const bp = useBp()
  const another = useBp()
  beforeAll(async () => {
    await bp().login(server())
  })

  const botOf = async (folder: string) => {
    const cache = await readFile(join(folder, '.botpress/project.cache.json'), 'utf8')
    const admin = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    return (await admin.getBot({ id: JSON.parse(cache).botId })).bot
  }

  it.each([
    ['chat', '1.0.0'],
    ['chat@1.0.0', '1.0.0'],
    ['chat@0.7.6', '0.7.6'],
  ])('deploys a bot that declares %s', async (reference, version) => {
    const folder = await bp().project('chat-bot', reference)
    await bp().succeed(['add', reference, '--workDir', folder])
    await bp().succeed(['deploy', '--workDir', folder, '--createNewBot'])
    const bot = await botOf(folder)
    const webhookUrl = 'http://127.0.0.1:9/signals'
    expect(bot.integrations).toMatchObject({
      chat: { version, enabled: true, status: 'registered', configuration: { webhookUrl } },
    })
    // The second deployment finds what the first one installed.
    const more = ['--botId', bot.id, '--noBuild']
    await bp().succeed(['deploy', '--workDir', folder, ...more])
    expect((await botOf(folder)).integrations.chat).toMatchObject({ version })
  })

  it('deploys a bot with an integration that another workspace has published', async () => {
    const developer = { url: server().url, ...(await addAccount(server())) }
    await existingClient(server(), developer).updateWorkspace({
      id: developer.workspaceId,
      handle: 'acme',
    })
    await another().login(developer)
    const messenger = await another().project('messenger')
    const options = ['--secrets', 'API_KEY=key', '--public']
    await another().succeed(['deploy', '--workDir', messenger, ...options])
    const folder = await bp().project('messenger-bot')
    await bp().succeed(['add', 'acme/messenger@0.1.0', '--workDir', folder])
    await bp().succeed(['deploy', '--workDir', folder, '--createNewBot'])
    const installed = Object.values((await botOf(folder)).integrations)
    expect(installed.map(({ name, visibility }) => [name, visibility])).toContainEqual([
      'acme/messenger',
      'public',
    ])
  })
})

describe('bp deploy of an integration', () => {
  const server = useServer()
  const bp = useBp()
  let folder = ''
  beforeAll(async () => {
    await bp().login(server())
    await existingClient(server()).updateWorkspace({ id: server().workspaceId, handle: 'acme' })
    folder = await bp().project('messenger')
  })

  const find = async () => {
    const { integrations } = await existingClient(server()).listIntegrations({
      name: 'acme/messenger',
    })
    return integrations
  }

  it('asks for the secrets that the definition requires', async () => {
    const failed = await bp().run(['deploy', '--workDir', folder])
    expect(failed).toMatchObject({ status: 1, output: expect.stringContaining('API_KEY') })
    expect(await find()).toEqual([])
  })

  it('stores the definition and the names of the secrets, and updates them', async () => {
    const admin = existingClient(server())
    await bp().succeed(['deploy', '--workDir', folder, '--secrets', 'API_KEY=key'])
    const [{ id = '' } = {}] = await find()
    const { integration } = await admin.getIntegration({ id })
    expect(integration).toMatchObject({
      dev: false,
      title: 'Messenger',
      secrets: ['API_KEY'],
      actions: { greet: { input: { schema: { required: ['name'] } } } },
      channels: { direct: { messages: { text: {} }, conversation: { tags: { id: {} } } } },
      user: { tags: { id: {} } },
    })
    expect(JSON.stringify(integration)).not.toContain('key of')

    const more = ['--secrets', 'NOTE=another']
    const again = await bp().succeed(['deploy', '--workDir', folder, ...more])
    expect(again.output).toContain('API_KEY')
    expect((await admin.getIntegration({ id })).integration.secrets).toEqual(['API_KEY', 'NOTE'])
    expect(await find()).toHaveLength(1)
  })
})
