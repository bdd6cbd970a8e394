import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { Client as ChatClient } from '@botpress/chat'
import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { checkout } from '../documents.js'
import { waitUntil } from '../patience.js'
import { freePort } from '../ports.js'
import { runCommand, type ServerProcess, startServerProcess } from '../processes.js'
import { commandOfImage } from './image.js'
import { type Installed, installRelease } from './packed.js'

/** Maximum bytes of the package and what comes with it. */
const maxBytes = 61e6

/** Options of bwrap for a root of this machine's programs, in which all but mounts can only be read. */
function container(environment: Record<string, string>, mounts: readonly string[]): string[] {
  const variables = Object.entries({ ...environment, PATH: '/node:/usr/bin:/bin' })
  return [
    ...['--unshare-user', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'],
    '--die-with-parent',
    ...[
      '--ro-bind',
      '/usr',
      '/usr',
      '--ro-bind',
      '/etc',
      '/etc',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
    ],
    ...['bin', 'lib', 'lib64'].flatMap((name) => ['--ro-bind-try', `/${name}`, `/${name}`]),
    ...['--ro-bind', process.execPath, '/node/node', '--tmpfs', '/tmp', ...mounts],
    ...['--remount-ro', '/', '--chdir', '/data', '--clearenv', '--info-fd', '3'],
    ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
    '--',
  ]
}
const canContain =
  spawnSync('bwrap', [...container({}, ['--tmpfs', '/data']), 'true'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  }).status === 0

describe('the package, installed in an empty folder', () => {
  let installed: Installed
  let dataDir = ''
  let server: ServerProcess
  let startMs = 0
  let environment: Record<string, string> = {}
  beforeAll(async () => {
    installed = await installRelease()
    dataDir = await mkdtemp(join(tmpdir(), 'botstead-release-data-'))
    const start = performance.now()
    server = await startServerProcess({ BOTSTEAD_DATA_DIR: dataDir }, '/readyz', installed.command)
    startMs = performance.now() - start
    environment = { BOTSTEAD_DATA_DIR: dataDir, BOTSTEAD_URL: server.url }
  })
  afterAll(async () => {
    await server?.kill()
    await installed?.[Symbol.asyncDispose]()
    if (dataDir !== '') await rm(dataDir, { recursive: true, force: true })
  })

  const command = async (...words: string[]) => {
    const ran = await runCommand(words, environment, '', installed.command)
    expect(ran.status, ran.stderr).toBe(0)
    return ran.stdout
  }
  const admin = async () => {
    const token = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
    const { workspaces } = await new Client({ apiUrl: server.url, token }).listWorkspaces({})
    const workspaceId = workspaces[0]?.id ?? ''
    return { token, workspaceId, client: new Client({ apiUrl: server.url, token, workspaceId }) }
  }

  it('takes no more space than a small installation may', () => {
    process.stdout.write(
      `the package: ${(installed.bytes / 1e6).toFixed(1)} MB installed, first start ${startMs.toFixed(0)} ms\n`,
    )
    expect(installed.bytes).toBeLessThan(maxBytes)
  })

  it('says which version it is, and carries the licences of what is bundled', async () => {
    const { version } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'))
    expect((await command('--version')).trim()).toBe(version)
    const folder = dirname(dirname(installed.command))
    const licences = await readFile(join(folder, 'THIRD-PARTY-LICENSES.md'), 'utf8')
    for (const name of ['fastify', 'kysely', 'pg', '@bpinternal/verel', 'react', 'marked']) {
      expect(licences).toMatch(new RegExp(`^## ${name}\\b`, 'm'))
    }
  })

  it('has the files and guides that an operator needs', async () => {
    const folder = dirname(dirname(installed.command))
    for (const name of [
      'deploy/botstead.service',
      'deploy/nginx.conf',
      'deploy/monitoring/alerts.yaml',
      'docs/guides/backup.md',
    ]) {
      expect(await readFile(join(folder, name), 'utf8')).toBe(
        await readFile(join(checkout, name), 'utf8'),
      )
    }
  })

  it('serves the chat to the existing client', async () => {
    const { client } = await admin()
    const { bot } = await client.createBot({ name: 'Chat' })
    const { webhookId } = Object.values(bot.integrations)[0] ?? {}
    const user = await ChatClient.connect({
      webhookId: webhookId ?? '',
      apiUrl: `${server.url}/chat/${webhookId}`,
    })
    const { conversation } = await user.createConversation({})
    const listener = await user.listenConversation({ id: conversation.id })
    const heard: unknown[] = []
    listener.on('message_created', (message) => heard.push(message.payload))
    const payload = { type: 'text' as const, text: 'Hello' }
    await user.createMessage({ conversationId: conversation.id, payload })
    await vi.waitFor(() => expect(heard).toEqual([payload]))
    await listener.disconnect()
  })

  it('reads documents, and finds what is in them', async () => {
    await command('bots', 'create', 'Search')
    const folder = dirname(dirname(installed.command))
    await command('files', 'put', join(folder, 'README.md'), '--index', '--bot', 'Search')
    const pdf = join(installed.folder, 'lamps.pdf')
    await writeFile(pdf, await makePdf('The lighthouse has a lamp of 1000 watts.'))
    await command('files', 'put', pdf, '--index', '--bot', 'Search')
    expect(
      await command('search', 'Which lamp is in the lighthouse?', '--bot', 'Search'),
    ).toContain('lamp of 1000 watts')
  })

  it('serves the dashboard, the web chat and the reference', async () => {
    const { client } = await admin()
    const { bots } = await client.listBots({})
    const { bot } = await client.getBot({ id: bots[0]?.id ?? '' })
    const { webhookId } = Object.values(bot.integrations)[0] ?? {}
    const get = (path: string) => fetch(`${server.url}${path}`, { headers: { accept: '*/*' } })
    const page = await (await get('/dashboard')).text()
    const script = /src="\.?\/?(assets\/[^"]+\.js)"/.exec(page)?.[1] ?? ''
    for (const path of [
      `/dashboard/${script}`,
      '/docs',
      '/docs/swagger-ui.js',
      '/docs/swagger-ui.css',
      '/openapi.json',
      `/webchat/${webhookId}`,
      `/webchat/${webhookId}/inject.js`,
    ]) {
      const response = await get(path)
      expect([path, response.status]).toEqual([path, 200])
      const content = await response.text()
      expect(content.length).toBeGreaterThan(500)
      // Most of them are in the package as compressed only.
      const headers = { accept: '*/*', 'accept-encoding': 'identity' }
      const plain = await fetch(`${server.url}${path}`, { headers })
      expect(plain.headers.get('content-encoding')).toBeNull()
      expect((await plain.text()) === content, path).toBe(true)
    }
  })

  it('runs scripts of integrations, and declared schemas', async () => {
    const { client } = await admin()
    const { result } = await client.runVrl({ script: 'upcase!(.a)', data: { a: 'b' } })
    expect(result).toBe('B')
    const schema = { type: 'object', properties: { name: { type: 'nothing' } } }
    const refused = client.createBot({
      name: 'Wrong',
      events: { wrong: { schema } },
    })
    await expect(refused).rejects.toThrow(/type/)
  })

  it('deploys and runs the code of a bot', async () => {
    const demo = await runCommand(
      ['demo', '--once', '--port', '0'],
      { TMPDIR: tmpdir() },
      '',
      installed.command,
    )
    expect(demo.status, demo.stderr).toBe(0)
    expect(demo.stdout).toContain('Guide answers')
  })

  it('finds nothing wrong with itself', async () => {
    const { port } = new URL(server.url)
    const ran = await runCommand(
      ['doctor', '--json'],
      { BOTSTEAD_DATA_DIR: dataDir, PORT: port },
      '',
      installed.command,
    )
    expect(ran.stderr).toBe('')
    const checks = JSON.parse(ran.stdout).checks as { check: string; status: string }[]
    // The disk of the machine that runs the tests may be full, and nothing was backed up yet.
    const others = checks.filter(({ check }) => !['disk', 'backups'].includes(check))
    const wrong = others.filter(({ status }) => status !== 'ok')
    expect(wrong).toEqual([])
    expect(checks).toContainEqual(expect.objectContaining({ check: 'database', status: 'ok' }))
  })

  it('backs up, checks the backup and restores it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-release-backups-'))
    await using _ = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
    const backups = join(folder, 'backups')
    const plain = ['--no-encryption']
    const made = await command('backup', backups, ...plain)
    expect(made).not.toBe('')
    await command('backup', 'verify', backups)
    const place = { BOTSTEAD_DATA_DIR: join(folder, 'restored') }
    const restored = await runCommand(['restore', backups], place, '', installed.command)
    expect(restored.status, restored.stderr).toBe(0)
    expect((await stat(join(folder, 'restored', 'botstead.db'))).size).toBeGreaterThan(0)
  })

  it.skipIf(!canContain)(
    `runs as in the image: another user, a root that is read-only, no capabilities${canContain ? '' : ' (skipped: bwrap cannot make a container here)'}`,
    async () => {
      const data = await mkdtemp(join(tmpdir(), 'botstead-release-volume-'))
      await using _ = { [Symbol.asyncDispose]: () => rm(data, { recursive: true }) }
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const image = await commandOfImage()
      const environment = { ...image.environment, PORT: String(port) }
      const mounts = ['--ro-bind', installed.folder, '/app', '--bind', data, '/data']
      const contain = (command: string[]) =>
        spawn('bwrap', [...container(environment, mounts), ...command], {
          stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        })

      const run = async (work: () => Promise<void>) => {
        const child = contain(image.start)
        const [output, errors, facts] = child.stdio.slice(1).map((each) => text(each as Readable))
        const written = Promise.all([output, errors])
        const closed = once(child, 'close')
        try {
          const isReady = async () =>
            child.exitCode !== null ||
            (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200
          await waitUntil(isReady, { timeout: 10_000 })
          if (child.exitCode !== null) throw new Error((await written).join(''))
          await work()
          process.kill(JSON.parse((await facts) ?? '')['child-pid'], 'SIGTERM')
          expect([(await closed)[0], (await written).join('')]).toEqual([
            0,
            expect.stringMatching(/"msg":"stopped"}\s*$/),
          ])
        } finally {
          child.kill('SIGKILL')
        }
      }
      const adminInside = async () => {
        const token = (await readFile(join(data, 'admin-token'), 'utf8')).trim()
        const { workspaces } = await new Client({ apiUrl: url, token }).listWorkspaces({})
        return new Client({ apiUrl: url, token, workspaceId: workspaces[0]?.id ?? '' })
      }

      await run(async () => {
        const [checked] = await once(contain(image.healthcheck), 'exit')
        expect(checked).toBe(0)
        // Nothing else can be written, which would be missing in the next container.
        const refused = await text(contain(['touch', '/app/new', '/new']).stdio[2] as Readable)
        expect(refused.match(/Read-only file system/g)).toHaveLength(2)
        await (await adminInside()).createBot({ name: 'Kept' })
      })
      const [checked] = await once(contain(image.healthcheck), 'exit')
      expect(checked).toBe(1)
      await run(async () => {
        const { bots } = await (await adminInside()).listBots({})
        expect(bots.map(({ name }) => name)).toEqual(['Kept'])
      })
    },
  )

  it('stops on a signal, and starts again on what it stored', async () => {
    const { token } = await admin()
    expect(await server.stop()).toBe(0)
    server = await startServerProcess({ BOTSTEAD_DATA_DIR: dataDir }, '/readyz', installed.command)
    environment.BOTSTEAD_URL = server.url
    expect((await stat(join(dataDir, 'botstead.db'))).size).toBeGreaterThan(0)
    const { client, token: same } = await admin()
    expect(same).toBe(token)
    expect((await client.listBots({})).bots.map(({ name }) => name)).toContain('Search')
  })
})

describe('a checkout without development dependencies', () => {
  it.each([
    ['start', false],
    ['run demo', false],
    // An earlier build may be older than the sources.
    ['run pack:release -- packed', true],
  ])('says what to do on npm %s', async (words, isBuilt) => {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-checkout-'))
    for (const path of ['package.json', 'scripts/ensure-built.mjs']) {
      await cp(join(checkout, path), join(folder, path))
    }
    if (isBuilt) {
      const path = 'apps/server/dist/main.js'
      await cp(join(checkout, path), join(folder, path))
    }
    const failed = await promisify(execFile)('npm', words.split(' '), { cwd: folder }).catch(
      (e) => e,
    )
    await rm(folder, { recursive: true })
    expect(failed).toMatchObject({ code: 1 })
    expect(failed.stderr).toContain('run "npm ci" without --omit=dev')
    expect(failed.stderr).toContain('npm run pack:release')
  })
})

it('a checkout that was never built says that it is being built', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-checkout-'))
  for (const path of ['package.json', 'scripts/ensure-built.mjs']) {
    await cp(join(checkout, path), join(folder, path))
  }
  const compiler = join(folder, 'node_modules/typescript')
  await mkdir(compiler, { recursive: true })
  await writeFile(join(compiler, 'package.json'), '{"name":"typescript"}')
  // There is nothing to build, so this fails.
  const failed = await promisify(execFile)('npm', ['start'], { cwd: folder }).catch((e) => e)
  await rm(folder, { recursive: true })
  expect(failed.stderr).toContain('Building the checkout')
})

async function makePdf(text: string): Promise<Buffer> {
  const require = createRequire(join(checkout, 'packages/documents/package.json'))
  const PdfDocument = require('pdfkit')
  const document = new PdfDocument()
  const parts: Buffer[] = []
  document.text(text)
  document.end()
  for await (const part of document) parts.push(part)
  return Buffer.concat(parts)
}
