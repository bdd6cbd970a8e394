import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { checkout } from './documents.js'

// Whoever runs the tests reads their status. The commands below are the real ones, with the real
// settings of the test runner and its real setup, in a checkout that has other tests.

const good = `import { expect, it } from 'vitest'
it('passes', () => expect(1 + 1).toBe(2))
`
const failing = `import { expect, it } from 'vitest'
it('fails', () => expect(1 + 1).toBe(3))
`
/** A test that fails in some of its runs, which it counts. */
const unsteady = (
  failsIn: readonly number[],
) => `import { appendFileSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
it('is [sometimes] well', () => {
  appendFileSync('runs', '.')
  expect(${JSON.stringify(failsIn)}).not.toContain(readFileSync('runs', 'utf8').length)
})
it('is not repeated', () => appendFileSync('others', '.'))
`
const brokenBuild = {
  'apps/server/test/build.ts': `export async function buildServer() {
  throw new Error('The server cannot be built')
}
`,
}
/** Of the machine, before its place is taken for the tests. */
const npm = execFileSync('/bin/sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()

interface Fault {
  /** Tests beside a good one. */
  test?: string
  /** Files of the checkout that are other ones. */
  files?: Record<string, string>
  /** Whether it is one of the long run, or of both runs, instead of `npm test`. */
  of?: 'long' | 'both'
  /** Number of tests that `.ci/run` counts as passed, without those in other versions of Node. */
  passed: number
  /** Number of tests that it counts as failed; 1 by default for each run. */
  failed?: number
  /** What `.ci/run` repeats at its end; anything by default. */
  repeated?: RegExp
}

const faults: Record<string, Fault> = {
  'a failing test': {
    test: failing,
    passed: 2,
  },
  'a failing test of the long run': {
    files: { 'apps/server/test/bad.long.test.ts': failing },
    of: 'long',
    passed: 2,
  },
  'a test that fails again when it is repeated': {
    test: unsteady([1, 3]),
    passed: 3,
    repeated: /^Failed in npm test: apps\/server\/test\/bad\.test\.ts > is \[sometimes\] well$/m,
  },
  'more failing tests than fail by chance': {
    test: `import { expect, it } from 'vitest'
it.each([2, 3, 4, 5])('fails with %s', (sum) => expect(sum).toBe(1))
`,
    passed: 2,
    failed: 4,
  },
  'a test process that is killed': {
    test: `import { it } from 'vitest'
it('is killed', () => new Promise(() => process.kill(process.pid, 'SIGKILL')))
`,
    passed: 2,
    repeated:
      /^Failed in npm test: .*Worker forks emitted error(.|\n)*Worker exited unexpectedly(.|\n)*^Failed in npm test: Files that did not end: apps\/server\/test\/bad\.test\.ts$/m,
  },
  'a rejection that nobody handles': {
    test: `import { it } from 'vitest'
it('rejects', async () => {
  Promise.reject(new Error('Nobody handles it'))
  await new Promise((resolve) => setTimeout(resolve, 10))
})
`,
    passed: 3,
    repeated: /^Failed in npm test: Error: Nobody handles it\n +at .*bad\.test\.ts/m,
  },
  'no test': { files: { 'apps/server/test/good.test.ts': '' }, passed: 1 },
  'no test of the long run': {
    files: { 'apps/server/test/good.long.test.ts': '' },
    of: 'long',
    passed: 1,
  },
  'a broken build': {
    files: brokenBuild,
    of: 'both',
    passed: 0,
  },
  'no PostgreSQL': {
    files: {
      'apps/server/test/postgres-server.ts': `export async function startPostgres() {
  throw new Error('It does not start')
}
`,
    },
    of: 'both',
    passed: 0,
  },
}

/** Replacements of the parts of the test setup that take seconds. */
const quick = {
  'apps/server/test/build.ts': 'export const buildServer = async () => {}',
  'apps/server/test/bundle.ts': `export const bundleCommand = async () => ({ path: '' })
export const bundlePrograms = bundleCommand
export const bundleWorkers = bundleCommand
`,
  'apps/server/test/bundled-workers.ts': '',
  'apps/server/test/migrated.ts':
    "export const createTemplates = async () => ({ file: '', database: '' })",
  'apps/server/test/postgres-server.ts':
    "export const startPostgres = async () => 'postgres://localhost/none'",
  'apps/server/test/property-tests.ts': '',
  'apps/server/test/patience.ts': '',
  'scripts/dashboard.mjs': '',
  'scripts/docs.mjs': '',
  'scripts/walls.mjs': '',
  'scripts/webchat.mjs': '',
}

const real = [
  '.ci',
  'package.json',
  'vitest.config.ts',
  'apps/server/test/global-setup.ts',
  'apps/server/test/keeper.ts',
  'apps/server/test/memory-folder.ts',
  'apps/server/test/part.ts',
  'apps/server/test/ports.ts',
  'apps/server/test/progress.ts',
  'apps/server/test/processes/keeper.mjs',
]

/** Runs tests in another version of Node. */
const onNode = '.ci/on-node'

const checkouts: string[] = []
afterAll(async () => {
  for (const root of checkouts) await rm(root, { recursive: true, force: true })
})

/** A checkout of what decides about the status, with stand-ins for what takes long. */
async function createCheckout(
  files: Record<string, string> = {},
  alsoReal: readonly string[] = [],
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'botstead-gate-'))
  checkouts.push(root)
  const tests = {
    'apps/server/test/good.test.ts': good,
    'apps/server/test/good.long.test.ts': good,
  }
  const written = { ...quick, ...tests, ...files }
  for (const [path, text] of Object.entries(written)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    if (text !== '' || !path.endsWith('.test.ts')) await writeFile(join(root, path), text)
  }
  for (const path of [...real, ...alsoReal]) {
    await cp(join(checkout, path), join(root, path), { recursive: true })
  }
  const packages = join(root, 'node_modules')
  await mkdir(join(packages, '.bin'), { recursive: true })
  for (const name of await readdir(join(checkout, 'node_modules'))) {
    if (name.startsWith('.')) continue
    await symlink(join(checkout, 'node_modules', name), join(packages, name))
  }
  await symlink(join(packages, 'vitest/vitest.mjs'), join(packages, '.bin/vitest'))
  for (const name of ['tsc', 'biome', 'knip']) {
    await writeScript(join(packages, '.bin', name), `test "$BROKEN" != ${name}`)
  }
  // Other versions of Node are not fetched: in each of them one test passes.
  if (!alsoReal.includes(onNode)) {
    await writeScript(
      join(root, onNode),
      `echo '{ "numPassedTests": 1, "numFailedTests": 0, "numPendingTests": 0 }' >"$2"`,
    )
  }
  await mkdir(join(root, 'machine'))
  await writeScript(join(root, 'machine/apt-get'), 'exit 1')
  // Installations and a command that is known to succeed do nothing, no package comes from a registry, and the real npm does
  // everything else.
  const skipped = 'case "$1 $2" in "ci "*|"$WELL") exit;; "pack "*) exit 1;; esac'
  await writeScript(join(root, 'machine/npm'), `${skipped}; exec "${npm}" "$@"`)
  return root
}

async function writeScript(path: string, line: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${line}\n`)
  await chmod(path, 0o755)
}

interface Ended {
  status: number | null
  output: string
}

/** Runs a command line in a checkout, outside of the environment of a running test. */
async function run(
  root: string,
  line: string,
  environment: Record<string, string> = {},
): Promise<Ended> {
  const { PATH, HOME, TMPDIR = tmpdir(), LANG = 'C.UTF-8' } = process.env
  const env = { PATH: `${join(root, 'machine')}:${PATH}`, HOME, TMPDIR, LANG, ...environment }
  const child = spawn('/bin/sh', ['-c', `${line} 2>&1`], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  // A gate that hangs is killed with all that it has started.
  const late = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 100_000)
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  clearTimeout(late)
  return { status, output }
}

/** The end of `.ci/run`: its counts, the results of the tests and the checks, and its status. */
function outcomeOf({ output, status }: Ended): Record<string, unknown> {
  const after = (start: RegExp) => Number(output.match(start)?.[1] ?? 0)
  return {
    line: output.match(/^\d+ passed, .+$/m)?.[0],
    test: after(/^npm test ended with status (\d+)$/m),
    long: after(/^npm run test:long ended with status (\d+)$/m),
    check: after(/^npm run check ended with status (\d+)$/m),
    status,
  }
}

// Other cases than the first do not run the checks again.
const WELL = 'run check'

const nodes: Record<string, string> = JSON.parse(
  await readFile(join(checkout, '.ci/nodes.json'), 'utf8'),
)

describe('the oldest Node of the gate', () => {
  it.each(['package.json', 'apps/server/package.json'])('is that of %s', async (path) => {
    const { engines } = JSON.parse(await readFile(join(checkout, path), 'utf8'))
    expect(`${engines.node}.0`).toBe(`>=${nodes.oldest}`)
  })
})

// Fifteen runs of the test runner take half a minute of processor time, for what hardly anybody changes.
describe.runIf(process.env.CI)('the gate', () => {
  it('passes when everything is well', async () => {
    const root = await createCheckout()
    const [ci, verify] = await Promise.all([run(root, '.ci/run'), run(root, 'npm run verify')])
    expect(outcomeOf(ci)).toEqual({
      line: '4 passed, 0 failed',
      test: 0,
      long: 0,
      check: 0,
      status: 0,
    })
    expect(ci.output).toMatch(/^These files took longest:$/m)
    expect(ci.output).toMatch(/^ +\d+\.\d s {2}apps\/server\/test\/good\.test\.ts \(npm test\)$/m)
    expect(verify.status).toBe(0)
    for (const { output } of [ci, verify])
      expect(output).toMatch(/^1 test file\. (The last time, all of them took|All of them take)/m)
  })

  it.each(Object.entries(faults))('fails because of %s', async (_, fault) => {
    const { test = '', files, passed, of, failed = of === 'both' ? 2 : 1, repeated = /./ } = fault
    const root = await createCheckout({ ...files, 'apps/server/test/bad.test.ts': test })
    const ci = await run(root, '.ci/run', { WELL })
    expect(outcomeOf(ci)).toEqual({
      line: `${passed + 2} passed, ${failed} failed`,
      test: of === 'long' ? 0 : 1,
      long: of === undefined ? 0 : 1,
      check: 0,
      status: 1,
    })
    expect(ci.output).toMatch(repeated)
  })

  it('names a test that fails once and passes each time when it is repeated alone', async () => {
    const root = await createCheckout({ 'apps/server/test/bad.test.ts': unsteady([1]) })
    const ci = await run(root, '.ci/run', { WELL })
    expect(outcomeOf(ci)).toEqual({
      line: '6 passed, 0 failed',
      test: 0,
      long: 0,
      check: 0,
      status: 0,
    })
    expect(ci.output).toMatch(
      /^UNSTEADY in npm test, failed once and passed alone: apps\/server\/test\/bad\.test\.ts > is \[sometimes\] well\nAssertionError/m,
    )
    expect(await readFile(join(root, 'runs'), 'utf8')).toBe('....')
    expect(await readFile(join(root, 'others'), 'utf8')).toBe('.')
  })

  it('fails because of a failing test beside a real PostgreSQL, with either command', async () => {
    const root = await createCheckout({ 'apps/server/test/bad.test.ts': failing }, [
      'apps/server/test/postgres-server.ts',
    ])
    expect(await run(root, 'npm run verify', { WELL })).toMatchObject({
      status: 1,
      output: expect.stringMatching(/1 failed.*1 passed/),
    })
  })

  it('fails because of a broken build on a developer machine, where tests still run', async () => {
    const root = await createCheckout(brokenBuild)
    expect(await run(root, 'npm test')).toMatchObject({
      status: 1,
      output: expect.stringMatching(/1 passed(.|\n)*BUILT WITH ERRORS: The server cannot be built/),
    })
  })

  it('fails because of a failing check beside passing tests', async () => {
    const ci = await run(await createCheckout(), '.ci/run', { BROKEN: 'tsc' })
    expect(outcomeOf(ci)).toEqual({
      line: '4 passed, 1 failed',
      test: 0,
      long: 0,
      check: 1,
      status: 1,
    })
  })

  it('fails because another version of Node cannot be had', async () => {
    const ci = await run(await createCheckout({}, [onNode]), '.ci/run', { WELL })
    expect(outcomeOf(ci)).toMatchObject({ line: '2 passed, 2 failed', test: 0, status: 1 })
    for (const version of Object.values(nodes)) {
      expect(ci.output).toContain(`@${version} could not be fetched from the registry`)
      expect(ci.output).toContain(`Node ${version} ended with status 1`)
    }
  })

  it('fails because of what the walls find', async () => {
    const root = await createCheckout({
      'apps/server/test/good.test.ts': '',
      'scripts/walls.mjs': 'process.exitCode = 1',
    })
    expect((await run(root, 'npm run verify', {})).status).toBe(1)
  })

  it.each(['tsc', 'biome', 'knip'])('fails because of what %s finds', async (BROKEN) => {
    const root = await createCheckout({ 'apps/server/test/good.test.ts': '' })
    expect((await run(root, 'npm run verify', { BROKEN })).status).toBe(1)
  })
})

/** The real settings, with a shorter time between two lines. */
const impatient = `import config from './vitest.config.js'
const [first] = config.test.reporters
const reporters = [first, ['./apps/server/test/progress.ts', { everyMs: 100 }]]
export default { ...config, test: { ...config.test, reporters } }
`

/** A test that ends when the output of its run, in a file, has something in it. */
const until = (what: RegExp) => `import { readFileSync } from 'node:fs'
import { it, vi } from 'vitest'
it('waits', async () => {
  const isThere = () => ${what}.test(readFileSync('output.txt', 'utf8'))
  await vi.waitUntil(isThere, { timeout: 90_000 })
})
`

describe.runIf(process.env.CI)('a run of the tests', () => {
  it('says how far it is, and the next one how long it took', async () => {
    const root = await createCheckout({
      'impatient.config.ts': impatient,
      'apps/server/test/bad.test.ts': failing,
      'apps/server/test/broken.test.ts': "import './nowhere.js'",
      'apps/server/test/waits.test.ts': until(/3 of 4 test files .+ 1 broken file/),
    })
    const line = (filter: string) =>
      `npm test -- --config impatient.config.ts ${filter} >output.txt; cat output.txt`
    const { output } = await run(root, line(''))
    expect(output).toMatch(/^4 test files\. All of them take 5 to 18 minutes on two cores; /m)
    expect(output).toMatch(/^\d+ s: 3 of 4 test files and 2 tests done, 1 failed, 1 broken file$/m)

    const part = await run(root, line('good'))
    expect(part.output).toMatch(/^1 test file of 4\.$/m)
    const again = await run(root, line(''))
    expect(again.output).toMatch(
      /^4 test files\. The last time, all of them took \d+ s here: 3 tests\.$/m,
    )
  })

  it.runIf(process.platform === 'linux')('says so in place on a terminal', async () => {
    const root = await createCheckout({
      'impatient.config.ts': impatient,
      'apps/server/test/waits.test.ts': until(/Test Files.+1 passed.+\(2\)/),
    })
    const command = 'npm test -- --config impatient.config.ts'
    const { output, status } = await run(root, `script -qefc '${command}' output.txt`)
    expect(status).toBe(0)
    expect(output).toContain('2 test files. All of them take')
    expect(output).not.toMatch(/\d s: /)
  })
})
