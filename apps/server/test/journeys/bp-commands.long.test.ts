import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useBp } from '../bp.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { freePort } from '../ports.js'

const isIso = /^\d{4}-\d\d-\d\dT/

describe('the command line of the platform', () => {
  const server = useServer()
  const bp = useBp()
  beforeAll(async () => {
    await bp().login(server())
    await existingClient(server()).updateWorkspace({ id: server().workspaceId, handle: 'acme' })
  })

  /** Runs a command whose output is JSON. */
  async function json(words: readonly string[]) {
    return JSON.parse((await bp().succeed([...words, '--json'])).stdout)
  }

  it('logs in with a token that is valid, and out again', async () => {
    const { url, token, workspaceId } = server()
    const words = ['login', '--apiUrl', url, '--workspaceId', workspaceId]
    expect((await bp().succeed([...words, '--token', token])).output).toContain('Logged In')
    const refused = await bp().run([...words, '--token', 'of-nobody'])
    expect(refused).toMatchObject({ status: 1, output: expect.stringContaining('Login failed') })
    expect((await bp().succeed(['logout'])).output).toContain('Logged Out')
    const loggedOut = await bp().run(['bots', 'list'])
    expect(loggedOut).toMatchObject({ status: 1, output: expect.stringContaining('logged in') })
    await bp().login(server())
  })

  it('refuses a workspace that is not one of the caller', async () => {
    const { url, token } = server()
    const words = ['login', '--apiUrl', url, '--token', token, '--workspaceId', 'wkspace_of_others']
    const refused = await bp().run(words)
    expect(refused).toMatchObject({ status: 1, output: expect.stringContaining('Login failed') })
    await bp().login(server())
  })

  it('creates, finds, lists and deletes bots', async () => {
    const made = await json(['bots', 'create', '--name', 'Made by the command'])
    expect(made).toMatchObject({
      name: 'Made by the command',
      createdAt: expect.stringMatching(isIso),
    })
    const again = await json(['bots', 'create', '--name', made.name, '--if-not-exists'])
    expect(again.id).toBe(made.id)
    expect(await json(['bots', 'get', made.id])).toMatchObject({ id: made.id, name: made.name })
    const ids = async (...options: string[]): Promise<string[]> =>
      (await json(['bots', 'list', ...options])).map(({ id }: { id: string }) => id)
    expect(await ids()).toContain(made.id)
    expect(await ids('--dev')).not.toContain(made.id)
    await bp().succeed(['bots', 'delete', made.id])
    expect(await ids()).not.toContain(made.id)
    const gone = await bp().run(['bots', 'get', made.id])
    expect(gone).toMatchObject({ status: 1, output: expect.stringContaining(made.id) })
  })

  it('lists more bots than one page has', async () => {
    const admin = existingClient(server())
    const names = Array.from({ length: 25 }, (_, i) => `Many ${i}`)
    await Promise.all(names.map((name) => admin.createBot({ name })))
    const listed = (await json(['bots', 'list'])).map(({ name }: { name: string }) => name)
    expect(listed).toEqual(expect.arrayContaining(names))
  })

  it('begins a bot and an integration that it can build', async () => {
    const workDir = bp().folder
    for (const type of ['bot', 'integration']) {
      const words = ['init', '--type', type, '--name', `new-${type}`, '--workDir', workDir]
      expect((await bp().succeed(words)).output).toContain('initialized')
    }
    const text = await readFile(join(workDir, 'new-integration/package.json'), 'utf8')
    expect(JSON.parse(text)).toMatchObject({ integrationName: 'new-integration' })
  })

  it('serves a bot that it has built, without the server', async () => {
    const folder = await bp().project('echo-bot', 'served')
    await bp().succeed(['build', '--workDir', folder])
    const port = await freePort()
    const serving = bp().start(['serve', '--workDir', folder, '--port', String(port)])
    await serving.wrote(/Listening on port/)
    const health = await fetch(`http://127.0.0.1:${port}/health`)
    expect([health.status, await health.text()]).toEqual([200, 'ok'])
    await serving.kill()
  })

  it('reads, deploys, finds, adds and deletes an integration', async () => {
    const folder = await bp().project('messenger')
    const workDir = ['--workDir', folder]
    expect(await json(['read', ...workDir])).toMatchObject({ name: 'messenger', version: '0.1.0' })
    const secret = ['--secrets', 'API_KEY=key of the service']
    await bp().succeed(['deploy', ...workDir, ...secret])

    const found = await json(['integrations', 'get', 'acme/messenger@0.1.0'])
    expect(found).toMatchObject({ name: 'acme/messenger', version: '0.1.0', secrets: ['API_KEY'] })
    expect(await json(['integrations', 'get', found.id])).toMatchObject({ id: found.id })
    const names = (listed: { name: string }[]) => listed.map(({ name }) => name)
    const listed = await json(['integrations', 'list', '--name', 'acme/messenger'])
    expect(names(listed)).toEqual(['acme/messenger'])
    expect(names(await json(['integrations', 'list']))).toContain('acme/messenger')

    const bot = await bp().project('echo-bot', 'with-messenger')
    await bp().succeed(['add', 'acme/messenger@0.1.0', '--workDir', bot])
    const index = await readFile(join(bot, '.botpress/index.ts'), 'utf8')
    expect(index).toContain('acme/messenger')

    expect((await bp().succeed(['integrations', 'delete', 'acme/messenger'])).output).toContain(
      'deleted',
    )
    const gone = await bp().run(['integrations', 'get', found.id])
    expect(gone).toMatchObject({ status: 1, output: expect.stringContaining('not found') })
  })

  it('does not find what was never deployed', async () => {
    for (const words of [
      ['integrations', 'get', 'acme/absent'],
      ['integrations', 'delete', 'acme/absent@1.2.3'],
      ['add', 'absent', '--workDir', await bp().project('echo-bot', 'with-absent')],
    ]) {
      const failed = await bp().run(words)
      expect(failed).toMatchObject({ status: 1, output: expect.stringContaining('not found') })
    }
  })
})
