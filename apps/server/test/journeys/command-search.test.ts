import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { runCommand } from '../processes.js'
import { untilIndexed } from '../tenant.js'

const manual =
  '# Pump\n\nIt moves water.\n\n## Start\n\nTurn the red valve.\n\n## Stop\n\nPush the button.'
const code = '# Hose\n\n```js\nif (leaks) {\n    closeValve()\n}\n```'
const indexing = {
  configuration: { parsing: { minimumParagraphLength: 0 }, chunking: { maximumChunkLength: 64 } },
}

describe('botstead search and reindex', () => {
  const server = useServer()
  let botId: string
  let client: ReturnType<ReturnType<typeof server>['client']>

  const upload = async (key: string, content: string, tags: Record<string, string> = {}) => {
    const size = Buffer.byteLength(content)
    const { file } = await client.upsertFile({ key, size, tags, index: true, indexing })
    await fetch(file.uploadUrl, { method: 'PUT', body: content })
    return await untilIndexed(client, file.id)
  }

  beforeAll(async () => {
    botId = (await server().client().createBot()).bot.id
    client = server().client({ botId })
    await upload('pump.md', manual)
    await upload('broken.zip', 'no archive')
    await upload('hose.md', code, { part: 'hose' })
  })

  const run = (...words: string[]) =>
    runCommand(words, {
      BOTSTEAD_URL: server().url,
      BOTSTEAD_TOKEN: server().token,
      BOTSTEAD_BOT: botId,
    })

  it('shows passages under their headings, best first', async () => {
    const { status, stdout } = await run('search', 'red', 'valve', '--limit', '1')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^1\. pump\.md {2}[01]\.\d\d\n/)
    expect(stdout).toContain('   Pump\n   ## Start\n   Turn the red valve.\n')
  })

  it('explains scores, and reports when nothing is found', async () => {
    const explained = await run('search', 'red valve', '--explain', '--limit', '1')
    expect(explained.stdout).toMatch(/^1\. pump\.md {2}[01]\.\d\d {2}\(.*keyword [01]\.\d\d/)
    const nothing = await run('search', '???')
    expect(nothing).toMatchObject({ status: 0, stdout: '', stderr: 'Nothing was found.\n' })
  })

  it('shows code unchanged, and searches only files with a tag', async () => {
    const { stdout } = await run('search', 'valve closeValve', '--tag', 'part=hose')
    expect(stdout).toContain('   if (leaks) {\n       closeValve()\n   }\n')
    expect(stdout).not.toContain('pump.md')
    const other = await run('search', 'valve', '--tag', 'part=seal')
    expect(other.stderr).toBe('Nothing was found.\n')
  })

  it('writes JSON for programs, one passage per file if asked to', async () => {
    const { stdout } = await run('search', 'valve', 'button', '--json', '--consolidate')
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const pump = found.filter(({ file }) => file.key === 'pump.md')
    expect(pump).toMatchObject([{ meta: { type: 'consolidated' } }])
    expect(pump[0].content).toContain('Turn the red valve.')
    expect(pump[0].content).toContain('Push the button.')
    expect(await run('search', '???', '--json')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  it('refuses invalid options', async () => {
    const limit = await run('search', 'valve', '--limit', '51')
    expect(limit.status).toBe(1)
    expect(limit.stderr).toContain('It must be a whole number from 1 to 50.')
    const none = await run('reindex')
    expect(none).toMatchObject({
      status: 1,
      stderr: 'Name files, or give one of --failed and --all.\n',
    })
  })

  it('indexes all files again, or those that failed, and reports why one fails again', async () => {
    const all = await run('reindex', '--all')
    expect(all.stdout).toContain('pump.md: indexing_completed\n')
    expect(all.stderr).toContain('2 of 3 files were indexed again.\n')
    expect(all.status).toBe(1)
    const failed = await run('reindex', '--failed')
    expect(failed.stdout).toMatch(/^broken\.zip: .*cannot be indexed/)
    expect(failed.stderr).toContain('0 of 1 files')
    const named = await run('reindex', 'pump.md', 'missing.md')
    expect(named.stdout).toContain('missing.md: There is no file missing.md in this bot.\n')
    expect(named.stdout).toContain('pump.md: indexing_completed\n')
  })
})
