import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBp } from '../bp.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { talkTo } from '../hosted-code.js'
import { eventually } from '../jobs.js'

/** A service that keeps what is sent to it. */
const sent: { authorization: string | undefined; body: unknown }[] = []
const service = createServer(async (request, response) => {
  const { authorization } = request.headers
  sent.push({ authorization, body: JSON.parse((await buffer(request)).toString()) })
  response.end('{}')
})

describe('what the command of the platform deploys', () => {
  const server = useServer()
  const bp = useBp()
  let serviceUrl = ''
  beforeAll(async () => {
    await bp().login(server())
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  })
  afterAll(() => {
    service.close()
  })
  const admin = () => existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
  const botIn = async (folder: string): Promise<string> => {
    const cache = await readFile(join(folder, '.botpress/project.cache.json'), 'utf8')
    return JSON.parse(cache).botId
  }
  const replace = async (path: string, from: string, to: string) => {
    const text = await readFile(path, 'utf8')
    expect(text).toContain(from)
    await writeFile(path, text.replace(from, to))
  }

  it('answers as a bot; what cannot start is refused with the reason, and the former code stays', async () => {
    const folder = await bp().project('echo-bot')
    const workDir = ['--workDir', folder]
    await bp().succeed(['deploy', ...workDir, '--createNewBot'])
    const id = await botIn(folder)
    const { integrations } = (await admin().getBot({ id })).bot
    const { say, replies } = await talkTo(server(), integrations.chat?.webhookId ?? '')
    await say('hello')
    await eventually(async () => expect(await replies()).toEqual(['echo: hello']))

    // The command loads the bundle, too, to read the definition: it fails at the server only.
    const bundle = join(folder, '.botpress/dist/index.js')
    const built = await readFile(bundle, 'utf8')
    await writeFile(bundle, `${built}\nif (process.env.BP_TOKEN) throw new Error('no such luck')`)
    const refused = await bp().run(['deploy', ...workDir, '--botId', id, '--noBuild'])
    expect(refused).toMatchObject({ status: 1, output: expect.stringContaining('no such luck') })
    await say('still there')
    await eventually(async () =>
      expect(await replies()).toEqual(['echo: hello', 'echo: still there']),
    )

    await replace(join(folder, 'src/index.ts'), 'echo:', 'changed:')
    await bp().succeed(['deploy', ...workDir, '--botId', id])
    await say('again')
    await eventually(async () => expect((await replies()).at(-1)).toBe('changed: again'))
  })

  it('works as an integration: secrets, actions, webhooks and messages, in a workspace that gets its handle meanwhile', async () => {
    const folder = await bp().project('messenger')
    await replace(
      join(folder, 'package.json'),
      '"integrationName": "messenger"',
      '"integrationName": "acme/messenger"',
    )
    const workDir = ['--workDir', folder]
    const secret = ['--secrets', 'API_KEY=key of the service']
    const deployed = await bp().succeed(['deploy', ...workDir, ...secret])
    expect(deployed.output).toContain('Handle "acme" is now yours')
    const { workspaceId: id } = server()
    expect((await admin().getWorkspace({ id })).handle).toBe('acme')

    const user = await bp().project('messenger-bot')
    await bp().succeed(['add', 'acme/messenger@0.1.0', '--workDir', user])
    const configured = { SERVICE_URL: serviceUrl }
    await bp().succeed(['deploy', '--workDir', user, '--createNewBot'], configured)
    const botId = await botIn(user)
    const installed = Object.values((await admin().getBot({ id: botId })).bot.integrations).find(
      ({ name }) => name === 'acme/messenger',
    )
    expect(installed).toMatchObject({ status: 'registered' })
    const received = await fetch(installed?.webhookUrl ?? '', {
      method: 'POST',
      body: JSON.stringify({ from: 'ada', text: 'hello' }),
    })
    expect(received.status).toBe(200)
    await eventually(() =>
      expect(sent).toContainEqual({
        authorization: 'Bearer key of the service',
        body: { to: 'ada', text: 'echo: hello' },
      }),
    )
    const inBot = existingClient(server(), { botId })
    const alias = Object.entries((await admin().getBot({ id: botId })).bot.integrations).find(
      ([, { name }]) => name === 'acme/messenger',
    )?.[0]
    const { output } = await inBot.callAction({ type: `${alias}:greet`, input: { name: 'Ada' } })
    expect(output).toEqual({ greeting: 'Hello Ada' })
  })

  it('finds, lists and deletes interfaces', async () => {
    const empty = { schema: { type: 'object' } }
    await admin().updateWorkspace({ id: server().workspaceId, handle: 'acme' })
    const { interface: made } = await admin().createInterface({
      name: 'acme/typing',
      version: '1.0.0',
      public: true,
      entities: {},
      events: {},
      actions: { start: { input: empty, output: empty } },
      channels: {},
    })
    const json = async (...words: string[]) =>
      JSON.parse((await bp().succeed(['interfaces', ...words, '--json'])).stdout)
    expect(await json('get', 'acme/typing@1.0.0')).toMatchObject({ id: made.id })
    expect(await json('get', made.id)).toMatchObject({ name: 'acme/typing', version: '1.0.0' })
    const listed: { id: string }[] = await json('list')
    expect(listed.map(({ id }) => id)).toContain(made.id)
    expect((await bp().succeed(['interfaces', 'delete', 'acme/typing@1.0.0'])).output).toContain(
      'deleted',
    )
    const gone = await bp().run(['interfaces', 'get', 'acme/typing@1.0.0'])
    expect(gone).toMatchObject({ status: 1, output: expect.stringContaining('not found') })
  })
})
