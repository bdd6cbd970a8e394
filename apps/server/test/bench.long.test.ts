import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { waitUntil } from './patience.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const script = join(root, 'bench/run.mjs')
const parts = execFileSync(process.execPath, [script, '--list'], { encoding: 'utf8' })
  .trim()
  .split('\n')

/** Milliseconds that a part may take on a busy machine, where each of its waits may be six times as long. */
const maxMs = 600_000

/**
 * A new folder for what a run makes. Not in the folder of these tests, whose path is so long that sockets of programs
 * would be elsewhere.
 */
async function createFolder(): Promise<string> {
  const parent = process.platform === 'win32' ? tmpdir() : '/tmp'
  const folder = await mkdtemp(join(parent, 'b-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Runs a module beside the benchmarks, and returns what it writes as JSON. */
async function evaluate(text: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', text],
    { cwd: root, env: { ...process.env, ...env } },
  )
  return JSON.parse(stdout)
}

it.each(parts)(
  'the benchmark of %s runs to its end, with finite figures',
  async (part) => {
    const folder = await createFolder()
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', script, '--smallest', part],
      { env: { ...process.env, TMPDIR: folder } },
    )
    const [head, ...rows] = stdout.trim().split('\n')
    expect(head).toMatch(/^work +figure +against +ratio +budget$/)
    expect(rows).not.toHaveLength(0)
    for (const row of rows) {
      expect(row).not.toMatch(/NaN|Infinity|undefined/)
      expect(row).toMatch(/ {2}skipped: |\d/)
    }
    // The folder of the run is gone, and so is what its programs made.
    expect(await readdir(folder)).toEqual([])
  },
  maxMs,
)

it('a table with a figure that is not finite, or without figures, is refused', async () => {
  const faults = await evaluate(`
    const { requireFigures } = await import('./bench/table.mjs')
    const faults = {}
    const wrong = {
      none: [],
      ratio: [{ work: 'w', figure: '1 /s', against: 'a', ratio: 0 / 0 }],
      text: [{ work: 'w', figure: \`p50 \${Number.NaN} ms\` }],
      division: [{ work: 'w', figure: \`\${(1 / 0).toLocaleString('en')} /s\` }],
      missing: [{ work: 'w', figure: \`\${{}.p50} ms\` }],
    }
    for (const [name, rows] of Object.entries(wrong)) {
      try { requireFigures('part', rows) } catch ({ message }) { faults[name] = message }
    }
    requireFigures('part', [{ work: 'w', figure: '1 /s', ratio: 0.5 }])
    console.log(JSON.stringify(faults))
  `)
  expect(faults).toEqual({
    none: 'part has no figures',
    ratio: "part: 'w' has no finite figure: 1 /s, ratio NaN",
    text: "part: 'w' has no finite figure: p50 NaN ms, ratio 1",
    division: "part: 'w' has no finite figure: ∞ /s, ratio 1",
    missing: "part: 'w' has no finite figure: undefined ms, ratio 1",
  })
})

it('the smallest measurement has figures of a server whose every response takes longer than a second', async () => {
  const { requests, perSecond } = (await evaluate(`
    process.argv.push('--smallest')
    const { measure } = await import('./bench/load.mjs')
    const { createServer } = await import('node:http')
    const server = createServer((_, response) => setTimeout(() => response.end(), 1500))
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
    const url = \`http://127.0.0.1:\${server.address().port}\`
    console.log(JSON.stringify(await measure(url, { requests: [{ method: 'GET' }] })))
    process.exit()
  `)) as { requests: number; perSecond: number }
  expect(requests).toBe(128)
  expect(perSecond).toBeGreaterThan(0)
})

it('every retriever of a search can be measured, and finds the words of a passage', async () => {
  const text = `
    const { createWords, startCollection } = await import('./bench/collection.mjs')
    const { retrieversOf } = await import('./bench/search-retrievers.mjs')
    const { openSqliteReads } = await import('./apps/server/dist/platform/db/sqlite-driver.js')
    const { server, file, botId } = await startCollection(process.env.FOLDER, 20)
    const reads = await openSqliteReads(file)
    // The first passage begins with these.
    const query = createWords(20).text(8)
    const found = {}
    for (const [name, search] of Object.entries(retrieversOf(reads, botId))) {
      // So few passages have no vectors.
      const result = (await search(query)) ?? []
      found[name] = (result.rows ?? result.passages ?? [...result]).length
    }
    reads.close()
    await server.stop()
    console.log(JSON.stringify(found))
  `
  const found = (await evaluate(text, { FOLDER: await createFolder() })) as Record<string, number>
  for (const retriever of ['FTS5 alone', 'words', 'letters', 'all three']) {
    expect(found[retriever], retriever).toBeGreaterThan(0)
  }
})

interface Program {
  pid: number
  command: string
}

/** Programs whose command or environment names a folder, which those that a run starts have as their temporary one. */
async function programsOf(folder: string): Promise<Program[]> {
  const found: Program[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [command, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) =>
        readFile(`/proc/${name}/${file}`, 'utf8').catch(() => ''),
      ),
    )
    if (command?.includes(folder) || environment?.includes(folder)) {
      found.push({ pid: Number(name), command: command?.replaceAll('\0', ' ') ?? '' })
    }
  }
  return found
}

/** Starts a part that takes long; resolves when a program with such a command runs. */
async function startPart(part: string, started: RegExp) {
  const folder = await createFolder()
  const env = { ...process.env, TMPDIR: folder, BENCH_SHARE: '0.01' }
  const run = spawn(process.execPath, ['--expose-gc', script, part], { env, stdio: 'ignore' })
  onTestFinished(() => void run.kill('SIGKILL'))
  const ended = once(run, 'exit')
  await waitUntil(
    async () =>
      run.exitCode !== null ||
      (await programsOf(folder)).some(({ command }) => started.test(command)),
    { timeout: 60_000, interval: 50 },
  )
  expect(run.exitCode).toBeNull()
  return { run, folder, ended }
}

/** Waits until neither a program nor a file of a run is left. */
async function expectNothingLeft(folder: string): Promise<void> {
  const left = async () => [...(await programsOf(folder)), ...(await readdir(folder))]
  // The guard kills programs that do not stop within five seconds.
  await waitUntil(async () => (await left()).length === 0, {
    timeout: 30_000,
    interval: 100,
  }).catch(() => {})
  expect(await left()).toEqual([])
}

const stops = [
  { part: 'hosting-many', program: /bot=/, signal: 'SIGINT' },
  { part: 'hosting-many', program: /bot=/, signal: 'SIGTERM' },
  { part: 'hosting-many', program: /bot=/, signal: 'SIGKILL' },
  { part: 'analytics', program: /postgres/, signal: 'SIGKILL' },
] as const

it.skipIf(process.platform !== 'linux').each(stops)(
  'the benchmark of $part leaves nothing when $signal ends it',
  async ({ part, program, signal }) => {
    const { run, folder, ended } = await startPart(part, program)
    run.kill(signal)
    expect(await ended).toEqual([null, signal])
    await expectNothingLeft(folder)
  },
  maxMs,
)

it.skipIf(process.platform !== 'linux')(
  'a benchmark whose server ends fails, and leaves nothing',
  async () => {
    const { folder, ended } = await startPart('hosting-many', /bot=/)
    const servers = (await programsOf(folder)).filter(({ command }) =>
      command.includes('bench/server.mjs'),
    )
    expect(servers).toHaveLength(1)
    for (const { pid } of servers) process.kill(pid, 'SIGKILL')
    expect(await ended).toEqual([1, null])
    await expectNothingLeft(folder)
  },
  maxMs,
)
