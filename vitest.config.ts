import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { configDefaults, defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { part } from './apps/server/test/part.js'

/** Files that take a minute and more, mostly one step after the other: the longest first. */
const longest = [
  'server/test/bench.long',
  'journeys/example-bots.long',
  'hosting/poison',
  'journeys/soak.long',
  'journeys/backup-faults',
  'journeys/backup.',
  'journeys/quiet-listener.long',
  'hosting/hostile-output',
  'hosting/deployed-bots',
  'release/package.long',
  'dashboard/files',
]

/**
 * Those first, then journeys, and then what tests the whole server: they take longest, and the last file should not
 * keep the other processes waiting.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const parts = [...longest, '/test/journeys/', '/apps/server/test/', '']
    const rank = ({ moduleId }: TestSpecification) =>
      parts.findIndex((part) => moduleId.includes(part))
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/** A module of the server or of a package, by its path. */
const source = /^(.*\/(?:apps|packages)\/[\w-]+)\/src\/(.+)\.ts$/

/**
 * Tests load the server as built by the global setup, as it is shipped: translating it again for each
 * process takes longer than most of their tests, and what comes out runs slower.
 */
const builtModules: Plugin = {
  name: 'built-modules',
  enforce: 'pre',
  async resolveId(id, importer, options) {
    if (importer === undefined || !id.startsWith('.')) return
    const resolved = await this.resolve(id, importer, options)
    const [, home, path] = source.exec(resolved?.id ?? '') ?? []
    const built = `${home}/dist/${path}.js`
    return home !== undefined && existsSync(built) ? built : resolved
  },
}

const files = ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts']
const longFiles = '**/*.long.test.ts'

/** The files some of whose tests belong to the long run. */
function slowFiles(): string[] {
  return ['apps/server/src', 'apps/server/test'].filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`)
      .filter((path) => /\bdescribe(Slow|InLong|PlacesSlow)\(/.test(readFileSync(path, 'utf8'))),
  )
}

export default defineConfig({
  plugins: [builtModules],
  test: {
    server: { deps: { external: [/\/(apps|packages)\/[\w-]+\/dist\//] } },
    include: part === 'long' ? [longFiles, ...slowFiles()] : files,
    exclude: [...configDefaults.exclude, ...(part === 'usual' ? [longFiles] : [])],
    // Tests import what is built, so a change of its source has no importers that could be found.
    forceRerunTriggers: [
      ...configDefaults.forceRerunTriggers,
      '**/{apps,packages}/*/src/**/!(*.test).ts',
    ],
    globalSetup: ['apps/server/test/global-setup.ts'],
    setupFiles: ['property-tests', 'patience', 'bundled-workers'].map(
      (name) => `apps/server/test/${name}.ts`,
    ),
    // A demonstration that runs on the machine of whoever runs the tests is recorded elsewhere: commands must not find it.
    env: { XDG_STATE_HOME: '/nowhere' },
    // Files share a process and what is loaded in it: loading the server anew for each of them took
    // as long as most of their tests. No test may leave changed what belongs to all.
    isolate: false,
    // More than two processors are busy with: tests wait for programs, browsers and the time of leases.
    maxWorkers: 4,
    reporters: ['default', './apps/server/test/progress.ts'],
    sequence: { sequencer: LongestFirst },
    // Only what hangs takes as long: tests of 15 seconds take minutes on a machine with ten times the work.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
