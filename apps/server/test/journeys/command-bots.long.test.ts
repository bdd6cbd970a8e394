import { createClient } from '@botstead/contract'
import { expect, it } from 'vitest'
import { runAsPasted, tourOf } from '../documents.js'
import { engines } from '../engines.js'
import { startTestServer } from '../harness.js'
import { runCommand } from '../processes.js'

it('botstead bots creates a bot that can be used at once, shows, lists and deletes it', async () => {
  const [engine] = engines
  if (engine === undefined) throw new Error('There is no engine to test on')
  const server = await startTestServer(engine)
  const { url, token, workspaceId } = server
  const bots = (...words: string[]) =>
    runCommand(['bots', ...words], { BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token })
  try {
    // While there is only one bot, the commands that are suggested next do not name it.
    const quick = await runAsPasted(
      `exec 2>&1; export BOTSTEAD_URL=http://localhost:8787\n${await tourOf('README.md', 'quick')}`,
      server,
    )
    const [, next = ''] = /^Next:\n((?: {2}.+\n)+)/m.exec(quick) ?? []
    expect(next.trimEnd().split('\n')).toHaveLength(2)
    const environment = `exec 2>&1; export BOTSTEAD_URL=${url} BOTSTEAD_TOKEN=${token}\n`
    expect(await runAsPasted(environment + next, server)).toContain(
      'A message that was acknowledged is never lost.',
    )
    expect(quick).toContain('A message that was acknowledged is never lost.')

    const made = await bots('create', 'Guide', '--key', 'uploader', '--json')
    expect(made).toMatchObject({ status: 0, stderr: '' })
    const bot = JSON.parse(made.stdout)
    expect(bot).toMatchObject({ name: 'Guide', workspaceId, apiUrl: url })

    // Programs need only the key and the chat address.
    const client = createClient({ baseUrl: bot.apiUrl, token: bot.key, botId: bot.id })
    expect((await client.listFiles({})).files).toEqual([])
    expect((await fetch(`${bot.chatUrl}/hello`)).status).toBe(200)
    const { code } = await createClient({
      baseUrl: url,
      token: server.token,
      workspaceId,
    }).getBotWebchat({ id: bot.id, type: 'sharableUrl' })
    expect(bot.shareUrl).toBe(code)

    const [shown, second] = await Promise.all([
      bots('get', bot.id),
      bots('create', 'Told', '--workspace', 'Default', '--server-url', 'http://localhost:8074'),
    ])
    expect(shown).toMatchObject({ status: 0, stderr: '' })
    for (const fact of [
      /^bot +Guide$/m,
      `x-bot-id: ${bot.id})`,
      bot.chatUrl,
      bot.shareUrl,
      workspaceId,
    ]) {
      expect(shown.stdout).toMatch(fact)
    }
    expect(shown.stdout).not.toMatch(/^key|secret/m)
    const [, id = ''] = /^id +(\S+)$/m.exec(second.stdout) ?? []
    expect(second.stdout).toMatch(/^signing secret +\S+ \(shown once\)$/m)
    expect(second.stderr).toBe(
      `Next:\n  npx botstead deliveries test --bot ${id}\n  npx botstead chat --bot ${id}\n`,
    )

    const [listed, kept, elsewhere] = await Promise.all([
      bots('list'),
      bots('delete', bot.id),
      bots('create', '--workspace', 'Nowhere'),
    ])
    expect(listed.stdout).toMatch(
      new RegExp(`^${id}  \\S+Z  Told\n${bot.id}  \\S+Z  Guide\n\\S+  \\S+Z  First\n$`),
    )
    expect(kept).toMatchObject({ status: 1, stderr: expect.stringContaining('give --yes') })
    expect(elsewhere).toMatchObject({
      status: 1,
      stderr: `There is no workspace "Nowhere". Give the id of one with --workspace:\n  ${workspaceId}  Default\n`,
    })

    // An ambiguous name selects no bot: the ids are listed, and nothing is done.
    const twice = await bots('create', 'Guide', '--json')
    expect(twice.stderr).toBe(
      `There was a bot named Guide before (${bot.id}); this is another one, and commands find them by their ids only.\n`,
    )
    const twin = JSON.parse(twice.stdout)
    const which = `2 bots are called "Guide". Give the id of one:\n  ${twin.id}  made ${twin.createdAt}\n  ${bot.id}  made ${bot.createdAt}\n`
    const env = { BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token }
    const [asked, spared, listedFiles] = await Promise.all([
      bots('get', 'Guide'),
      bots('delete', 'Guide', '--yes'),
      runCommand(['files', 'ls', '--bot', 'Guide'], env),
    ])
    expect(asked).toEqual({ status: 1, stdout: '', stderr: which })
    expect(spared).toEqual({ status: 1, stdout: '', stderr: which })
    expect(listedFiles).toMatchObject({
      status: 1,
      stdout: '',
      stderr: which.replace('one:', 'one with --bot or BOTSTEAD_BOT:'),
    })
    // A name can neither hide nor forge a line.
    const forged = await server.client().createBot({ name: 'Nice\u001b[2J\nforged' })
    const printed = (await bots('get', forged.bot.id)).stdout
    expect(printed).toMatch(/^bot +Nice\\u001b\[2J\\nforged$/m)
    await server.client().deleteBot({ id: forged.bot.id })
    // A bot in development is found by its id and name, but is in nobody's way.
    const trial = { dev: true, url: 'http://localhost:8075' }
    const created = ['Trial', 'Told'].map((name) => server.client().createBot({ name, ...trial }))
    const [first, other] = (await Promise.all(created)).map((made) => made.bot.id)
    const [byId, byName, named, all] = await Promise.all([
      bots('get', first ?? '', '--json'),
      bots('get', 'Trial', '--json'),
      bots('get', 'Told', '--json'),
      bots('list'),
    ])
    expect([byId, byName, named].map(({ stdout }) => JSON.parse(stdout).id)).toEqual([
      first,
      first,
      id,
    ])
    expect(all.stdout.split('\n').slice(-3)).toEqual([
      expect.stringMatching(/\(in development\)$/),
      expect.stringMatching(/\(in development\)$/),
      '',
    ])
    for (const made of [first, other]) await bots('delete', made ?? '', '--yes')
    await server.client().createWorkspace({ name: 'Default' })
    const twins = await bots('list', '--workspace', 'Default')
    expect(twins).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('2 workspaces are called "Default". Give the id of one with'),
    })
    expect(await bots('delete', twin.id, '--yes')).toMatchObject({ status: 0 })

    const removed = await bots('delete', 'Guide', '--yes')
    expect(removed).toMatchObject({ status: 0, stderr: `Deleted Guide (${bot.id}).\n` })
    const left = (await bots('list', '--json')).stdout.trim().split('\n')
    expect(left.map((line) => JSON.parse(line))).toMatchObject([
      { id, name: 'Told', workspaceId },
      { name: 'First' },
    ])
  } finally {
    await server.close()
  }
})
