import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@botstead/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { useServer } from '../harness.js'
import { freePort } from '../ports.js'
import { runCommand } from '../processes.js'
import { scanOf } from '../scans.js'
import { inDatabase } from '../tenancy/seed.js'

/** Lets a command upload three files and hold the fourth until it is interrupted. */
const holdUploads = `
  const { fetch } = globalThis
  let uploads = 0
  globalThis.fetch = (url, init) => {
    if (init?.method !== 'PUT' || !String(url).includes('/uploads/')) return fetch(url, init)
    uploads += 1
    if (uploads < 4) return fetch(url, init)
    process.stderr.write('held')
    const { signal } = init
    return new Promise((_, reject) => {
      const hold = setInterval(() => {}, 60_000)
      signal.addEventListener('abort', () => {
        clearInterval(hold)
        reject(signal.reason)
      })
    })
  }`

/** Deletes the file `a.html` when a command asks for its report. */
const deleteBeforeReport = `
  const { fetch } = globalThis
  let id
  globalThis.fetch = async (url, init) => {
    const address = String(url)
    if (address.endsWith('/indexing-report') && address.includes(id)) {
      await fetch(address.replace('/indexing-report', ''), { ...init, method: 'DELETE' })
    }
    const response = await fetch(url, init)
    if (init?.method === 'PUT' && address.endsWith('/v1/files')) {
      const { file } = await response.clone().json()
      if (file.key === 'a.html') id = file.id
    }
    return response
  }`

describe('botstead files', () => {
  const server = useServer()
  let root: string
  let folder: string
  let botId: string
  let client: Client

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'botstead-folder-'))
  })
  afterAll(() => rm(root, { recursive: true }))
  beforeEach(async () => {
    botId = (await server().client().createBot()).bot.id
    client = server().client({ botId })
    folder = await mkdtemp(join(root, 'folder-'))
  })

  const environment = () => ({
    BOTSTEAD_URL: server().url,
    BOTSTEAD_TOKEN: server().token,
    BOTSTEAD_BOT: botId,
  })
  const files = (...words: string[]) => runCommand(['files', ...words], environment())
  const keys = async () =>
    (await client.listFiles({ sortField: 'key', sortDirection: 'asc' })).files.map(({ key }) => key)
  const write = async (path: string, content: string) => {
    const whole = join(folder, path)
    await mkdir(join(whole, '..'), { recursive: true })
    await writeFile(whole, content)
  }

  it('puts, lists, gets and removes a file', async () => {
    await write('travel notes.md', '# Travel')
    const path = join(folder, 'travel notes.md')
    const key = 'handbook/travel.md'
    const put = await files('put', path, key, '--tag', 'team=office', '--tag', 'a=b=c')
    expect(put).toEqual({ status: 0, stdout: '', stderr: `Sent ${key}, 8 B.\n` })
    const { file } = await client.getFile({ id: key })
    expect(file).toMatchObject({ tags: { team: 'office', a: 'b=c' }, status: 'upload_completed' })

    const [listed, got, twice, out] = await Promise.all([
      files('ls', 'handbook/'),
      files('get', key, join(folder, 'copy.md')),
      files('get', key, path),
      files('get', key, '-'),
    ])
    expect(listed.stdout).toMatch(/^\S+ +8 B {2}upload_completed +handbook\/travel\.md\n$/)
    expect(got.status).toBe(0)
    expect(await readFile(join(folder, 'copy.md'), 'utf8')).toBe('# Travel')
    expect((await readdir(folder)).sort()).toEqual(['copy.md', 'travel notes.md'])
    expect(twice).toMatchObject({ status: 1, stderr: expect.stringContaining('--force') })
    expect(out).toEqual({ status: 0, stdout: '# Travel', stderr: '' })

    expect(await files('rm', key)).toMatchObject({ status: 0, stderr: `Deleted ${key}.\n` })
    await client.upsertFile({ key: 'other', size: 1 })
    const stderr = `There is no file ${key} in this bot.\nDeleted other.\n`
    expect(await files('rm', key, 'other')).toMatchObject({ status: 1, stderr })
    const [missing, aFolder, nowhere] = await Promise.all([
      files('put', join(folder, 'missing.md')),
      files('put', folder),
      files('put', path, 'a').then(() => files('get', 'a', join(folder, 'no', 'a'))),
    ])
    expect(missing.stderr).toBe(`There is no file ${join(folder, 'missing.md')} on this machine.\n`)
    expect(aFolder.stderr).toBe(
      `${folder} is a folder: "npx botstead files sync" sends all of it.\n`,
    )
    expect(nowhere.stderr).toBe(`There is no folder ${join(folder, 'no')} to write to.\n`)
  })

  it('puts a new content in place of another, and keeps what the command does not name', async () => {
    const hour = 3_600_000
    // Servers keep the minute.
    const expiresAt = new Date((Math.ceil(Date.now() / hour) + 1) * hour).toISOString()
    const kept = {
      tags: { team: 'office', level: '1' },
      metadata: { author: 'Ada' },
      accessPolicies: ['integrations' as const],
      contentType: 'text/markdown',
      expiresAt,
    }
    const indexing = { configuration: { chunking: { maximumChunkLength: 500 } } }
    await write('a.txt', '# Pump')
    const path = join(folder, 'a.txt')
    // The second is not found by its key.
    for (const key of ['a.txt', 'search']) {
      const { file } = await client.upsertFile({ ...kept, key, index: true, indexing, size: 0 })
      const first = await files('put', path, key, '--tag', 'level=2', '--no-wait')
      expect(first).toMatchObject({ status: 0, stderr: `Sent ${key}, 6 B.\n` })
      const expected = { ...kept, id: file.id, tags: { team: 'office', level: '2' }, index: true }
      const now = (await client.getFile({ id: file.id })).file
      expect(now).toMatchObject({ ...expected, metadata: { author: 'Ada', indexing } })
    }
    await files('put', path, '--no-index', '--type', 'text/plain')
    const { file } = await client.getFile({ id: 'a.txt' })
    const { accessPolicies } = kept
    const rest = { accessPolicies, expiresAt, tags: { team: 'office', level: '2' } }
    expect(file).toMatchObject({ ...rest, index: false, contentType: 'text/plain' })
  })

  it('removes all files of a folder, and no others', async () => {
    for (const key of ['kb/a.md', 'kb/deep/b.md', 'kbase.md', 'other.md']) {
      await client.upsertFile({ key, size: 1 })
    }
    const single = await files('rm', 'kb/')
    expect(single).toMatchObject({ status: 1, stderr: expect.stringContaining('--recursive') })
    const dry = await files('rm', '--recursive', '--dry-run', 'kb')
    expect(dry.stderr.split('\n').toSorted()).toEqual([
      '',
      'Would delete kb/a.md.',
      'Would delete kb/deep/b.md.',
    ])
    expect(await keys()).toHaveLength(4)
    expect(await files('rm', '-r', 'nowhere', 'kb')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no file below nowhere/ in this bot.'),
    })
    expect(await keys()).toEqual(['kbase.md', 'other.md'])
  })

  it('says so when the key of a file is another file', async () => {
    await write('a.md', 'a')
    await write('b.md', 'b')
    const [path, key] = [join(folder, 'a.md'), join(folder, 'b.md')]
    const { stderr } = await files('put', path, key)
    expect(stderr).toMatch(`Sent ${key}, 1 B.\n${key} is also a file here, which was not sent`)
  })

  it('uploads a folder, then only the changes, and deletes only vanished files with the prefix', async () => {
    await write('a.md', '# A')
    await write('deep/er/b.txt', 'b')
    await write('.hidden', 'no')
    await write('~$a.docx', 'a lock file of an open document')
    await write('deep/Thumbs.db', 'no')
    await write('deep/desktop.ini', 'no')
    await symlink('a.md', join(folder, 'link.md'))
    await client.upsertFile({ key: 'elsewhere.md', size: 1 })
    const sync = (...more: string[]) =>
      files('sync', folder, '--prefix', 'kb/', '--tag', 'source=disk', ...more)

    const first = await sync('--dry-run')
    expect(first.stdout).toBe('Would be: 2 sent (4 B), 0 unchanged, 1 passed over.\n')
    expect(first.stderr).toMatch(/^send +kb\/a\.md$/m)
    expect(await files('ls', 'kb/')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'No key begins with kb/.\n',
    })
    expect(await keys()).toEqual(['elsewhere.md'])
    const second = await sync()
    expect(second).toMatchObject({
      status: 0,
      stdout: '2 sent (4 B), 0 unchanged, 1 passed over.\n',
      stderr: expect.stringMatching(/^sent +kb\/a\.md$/m),
    })
    expect(await keys()).toEqual(['elsewhere.md', 'kb/a.md', 'kb/deep/er/b.txt'])
    const before = (await client.getFile({ id: 'kb/a.md' })).file

    await write('deep/er/b.txt', 'B!')
    await write('c.md', 'c')
    expect((await sync()).stdout).toMatch(/^2 sent \(3 B\), 1 unchanged/)
    expect((await client.getFile({ id: 'kb/a.md' })).file.updatedAt).toBe(before.updatedAt)

    await rm(join(folder, 'c.md'))
    expect((await sync()).stdout).not.toContain('deleted')
    expect((await sync('--delete')).stdout).toMatch(/^0 sent \(0 B\), 2 unchanged, 1 deleted/)
    expect(await keys()).toEqual(['elsewhere.md', 'kb/a.md', 'kb/deep/er/b.txt'])

    const tagged = await sync('--tag', 'lang=en')
    expect(tagged.stdout).toMatch(/^0 sent \(0 B\), 0 unchanged, 2 tagged/)
    const { tags } = (await client.getFile({ id: 'kb/a.md' })).file
    expect(tags).toEqual({ source: 'disk', lang: 'en' })

    expect(await files('sync', folder, '--delete')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--delete needs --prefix'),
    })
    const whole = await files('sync', folder, '--prefix', '', '--delete')
    expect(whole.stdout).toMatch(/^2 sent .*, 3 deleted/)
    expect(await keys()).toEqual(['a.md', 'deep/er/b.txt'])
    await rm(folder, { recursive: true })
    await mkdir(folder)
    expect(await sync('--delete')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has no files'),
    })
  })

  it('waits until files are searchable, reports why one is not, and uploads lost contents again', async () => {
    await write('pump.md', '# Pump\n\nKeep it dry.')
    await write('photo.png', 'PNG')
    const sync = (...more: string[]) => files('sync', folder, '--index', ...more)
    const later = await sync('--no-wait')
    expect([later.status, later.stdout]).toEqual([0, '2 sent (23 B), 0 unchanged.\n'])
    // A file that was not awaited at first is reported at the next run.
    const first = await sync()
    expect(first.status).toBe(1)
    expect(first.stdout).toBe('0 sent (0 B), 2 unchanged, 1 searchable, 1 not indexed.\n')
    expect(first.stderr).toMatch(/^failed {3}photo\.png: Files of type .* text recognition/m)
    const again = await sync()
    expect(again.stdout).toBe(first.stdout)
    expect(again.stderr).toMatch(/^failed {3}photo\.png: .*\n$/)
    const [put, refused, listed, found] = await Promise.all([
      files('put', join(folder, 'pump.md'), '--index'),
      files('put', join(folder, 'photo.png'), 'other.png', '--index'),
      files('ls', 'photo'),
      client.searchFiles({ query: 'dry pump' }),
    ])
    expect(put).toMatchObject({ status: 0, stderr: 'Sent pump.md, 20 B.\nindexed  pump.md\n' })
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/\nfailed {3}other\.png: Files of type/),
    })
    expect(listed.stdout).toMatch(/indexing_failed +photo\.png\n {4}Files of type .*\n$/)
    expect(found.passages).toHaveLength(1)

    await rm(join(folder, 'photo.png'))
    const blobs = join(server().server.config.dataDir, 'blobs')
    for (const each of await readdir(blobs, { recursive: true, withFileTypes: true })) {
      if (each.isFile()) await rm(join(each.parentPath, each.name), { force: true })
    }
    await inDatabase(server(), ({ run }) => run((tx) => tx.deleteFrom('small_blobs').execute()))
    await write('dry.md', '# Dry')
    const mended = await sync('--tag', 'a=b')
    expect([mended.status, mended.stdout]).toEqual([
      0,
      '2 sent (25 B), 0 unchanged, 2 searchable.\n',
    ])
    const { url } = (await client.getFile({ id: 'pump.md' })).file
    expect(await (await fetch(url)).text()).toContain('Keep it dry.')
  })

  it('says what was not read, why, and what to do', async () => {
    const scan = await scanOf('Only this page has words.', undefined, undefined)
    await write('harbour.html', '<h1>Harbour</h1><p>Two piers.</p><img src="pier.png">')
    await write('pump.md', '# Pump')
    await writeFile(join(folder, 'scan.pdf'), scan)
    const sync = (...more: string[]) => files('sync', folder, '--index', ...more)
    const first = await sync()
    expect(first.status).toBe(1)
    expect(first.stdout).toMatch(/, 2 searchable, 1 of them in part, 1 not indexed\.\n$/)
    expect(first.stderr).toMatch(/^partly {3}harbour\.html: 1 picture without a description/m)
    expect(first.stderr).toMatch(/^failed {3}scan\.pdf: 2 of 3 pages could not be read/m)
    expect(first.stderr).toMatch(
      /\nWhy, and what to do: npx botstead files report harbour\.html\n$/,
    )
    expect(first.stderr).toMatch(/^indexed {2}pump\.md$/m)

    const [listed, report, whole, json, unknown] = await Promise.all([
      files('ls', 'harbour'),
      files('report', 'harbour.html'),
      files('report', 'pump.md'),
      files('report', 'harbour.html', '--json'),
      files('report', 'none.md'),
    ])
    expect(listed.stdout).toMatch(
      /harbour\.html\n {4}1 thing was not read; see: npx botstead files report harbour\.html\n$/,
    )
    expect(report.stdout).toMatch(
      /^1 picture without a description.*\n {4}The text in pictures .*\n {4}Add alternative text .*\n$/,
    )
    expect(whole.stdout).toBe('All of it was read.\n')
    expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'partly_read', count: 1 })
    expect(unknown).toMatchObject({ status: 1, stderr: expect.stringContaining('no file none.md') })

    const accepted = await sync('--allow-partial')
    expect([accepted.status, accepted.stdout.split(',', 1)]).toEqual([
      0,
      [expect.stringMatching(/^1 sent/)],
    ])
    expect(accepted.stderr).toMatch(/^partly {3}scan\.pdf: 2 scanned pages: pages 2 and 3/m)
    const again = await sync('--allow-partial')
    expect(again.stdout).toMatch(
      /^0 sent \(0 B\), 3 unchanged, 3 searchable, 2 of them in part\.\n$/,
    )
    expect(again.stderr).toMatch(/^partly {3}scan\.pdf: 2 scanned pages: pages 2 and 3/m)
    expect(again.stderr).not.toContain('pump.md')
  })

  it('keeps what it does not manage when it sends a changed content', async () => {
    await write('a.md', 'new words')
    await write('b.md', 'b')
    const accessPolicies = ['public_content' as const, 'integrations' as const]
    const expiresAt = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + 86_400_000).toISOString()
    const indexing = { configuration: { chunking: { maximumChunkLength: 500 } } }
    const metadata = { author: 'Ada', pages: 3 }
    const described = { accessPolicies, expiresAt, metadata, contentType: 'text/x-notes' }
    await client.upsertFile({
      key: 'a.md',
      size: 1,
      tags: { team: 'office' },
      indexing,
      ...described,
    })
    const unread = await files('sync', folder, '--allow-partial')
    expect(unread).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--allow-partial needs --index'),
    })
    const indexed = ['--index', '--no-wait', '--allow-partial']
    const { stdout } = await files('sync', folder, '--tag', 'lang=en', ...indexed)
    expect(stdout).toBe('2 sent (10 B), 0 unchanged.\n')
    const { file } = await client.getFile({ id: 'a.md' })
    const { chunking } = indexing.configuration
    expect(file).toMatchObject({
      ...described,
      size: 9,
      tags: { team: 'office', lang: 'en' },
      metadata: {
        ...metadata,
        indexing: { configuration: { chunking, parsing: { allowPartial: true } } },
      },
    })
    const other = (await client.getFile({ id: 'b.md' })).file
    expect(other).toMatchObject({ accessPolicies: [], contentType: 'text/markdown' })
    expect(other).not.toHaveProperty('expiresAt')
  })

  it('goes on when a file is deleted while its report is asked for', async () => {
    const picture = '<h1>Harbour</h1><p>Two piers.</p><img src="pier.png">'
    await write('a.html', picture)
    await write('-b.html', picture.replace('Two', 'Three'))
    const environmentOfRun = {
      ...environment(),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(deleteBeforeReport)}`,
    }
    const words = ['files', 'sync', folder, '--index']
    const { status, stdout, stderr } = await runCommand(words, environmentOfRun)
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^partly {3}-b\.html: 1 picture/m)])
    expect(stdout).toMatch(/^2 sent .*, 2 searchable, 1 of them in part\.\n$/)
    const { file } = await client.getFile({ id: '-b.html' })
    expect(stderr).toMatch(new RegExp(`: npx botstead files report ${file.id}\\n$`))
    expect(await keys()).toEqual(['-b.html'])
    const { stdout: report } = await files('report', file.id)
    expect(report).toMatch(/^1 picture/)
  })

  it('continues after Ctrl-C', async () => {
    for (let at = 0; at < 10; at++) await write(`${at}.bin`, String(at).repeat(1000))
    const words = ['files', 'sync', folder, '--concurrency', '1']
    const child = spawn(process.execPath, [inject('command'), ...words], {
      env: {
        ...process.env,
        ...environment(),
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(holdUploads)}`,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let written = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      const wasHeld = written.includes('held')
      written += chunk
      if (!wasHeld && written.includes('held')) child.kill('SIGINT')
    })
    const [status] = await once(child, 'close')
    expect([status, written]).toEqual([130, expect.stringContaining('again to go on')])
    const { stdout, status: ended } = await files('sync', folder)
    expect([ended, stdout]).toEqual([0, '7 sent (7.0 kB), 3 unchanged.\n'])
    const { files: all } = await client.listFiles({ pageSize: 100 })
    expect(all.filter((file) => file.status === 'upload_completed')).toHaveLength(10)
  })

  it('reports the files that failed and continues with the others', async () => {
    await write('good.txt', 'good')
    await write('bad.bin', 'x')
    await write(`${'é'.repeat(100)}/${'é'.repeat(100)}/x`, 'x')
    const prefix = `${'p'.repeat(900)}/`
    const { status, stdout, stderr } = await files('sync', folder, '--prefix', prefix)
    expect([status, stdout]).toEqual([1, '2 sent (5 B), 0 unchanged, 1 failed.\n'])
    expect(stderr).toMatch(/^failed .*: Key must have at most 1024 characters/m)
  })

  it.concurrent('reports what to do when it cannot continue', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`
    const { url, token } = { url: server().url, token: server().token }
    const run = (environment: Record<string, string>, ...words: string[]) =>
      runCommand(['files', ...words], { BOTSTEAD_DATA_DIR: root, ...environment })
    const cases = await Promise.all([
      run({ BOTSTEAD_URL: nobody, BOTSTEAD_TOKEN: 'x' }, 'ls'),
      run({ BOTSTEAD_URL: url }, 'ls'),
      run({ BOTSTEAD_URL: url, BOTSTEAD_TOKEN: 'wrong' }, 'ls'),
      run({ BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token }, 'ls', '--bot', 'nobody'),
      run({ BOTSTEAD_URL: url, BOTSTEAD_TOKEN: token }, 'sync', join(root, 'nowhere')),
      run({}, 'sync', root, '--concurrency', '0'),
    ])
    expect(cases.map(({ status }) => status)).toEqual([1, 1, 1, 1, 1, 1])
    expect(cases.map(({ stderr }) => stderr)).toEqual([
      `No server responds at ${nobody}: start it with "npx botstead start", or name another with --url or BOTSTEAD_URL.\n`,
      expect.stringMatching(/^There is no token for .*--token or BOTSTEAD_TOKEN/),
      expect.stringMatching(/refuses the token: .* Give another with --token/),
      expect.stringMatching(/^There is no bot "nobody"\. Give one with --bot/),
      expect.stringMatching(/nowhere is not a folder\.\n$/),
      expect.stringMatching(/whole number from 1 to 32/),
    ])
  })
})

describe('botstead files in the folder of a server with one bot', () => {
  const server = useServer()

  it('needs no options at all', async () => {
    await server().client().createBot()
    const { dataDir } = server().server.config
    const { port } = new URL(server().url)
    const listed = await runCommand(['files', 'ls'], { BOTSTEAD_DATA_DIR: dataDir, PORT: port })
    expect(listed).toEqual({ status: 0, stdout: '', stderr: 'The bot has no files.\n' })
  })
})
