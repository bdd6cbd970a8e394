import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { checkout } from './documents.js'

const server = 'apps/server/src'
const bots = `${server}/features/bots/bots`
const integrations = `${server}/features/bots/integrations`

/** A project without breaches, of the places that the tests below break. */
const sound = {
  [`${server}/platform/db/schema.ts`]: 'export interface Schema {}',
  [`${server}/app/container.ts`]: "import '../features/chat/index.js'",
  [`${server}/features/chat/index.ts`]: "import type { Bots } from '../bots/bots/index.js'",
  [`${server}/features/files/uploads/index.ts`]: "import './parts.js'",
  [`${server}/features/files/uploads/parts.ts`]: '',
  [`${server}/features/files/index.ts`]: "import './uploads/index.js'",
  [`${bots}/index.ts`]: "import './store.js'",
  [`${bots}/store.ts`]: "db.selectFrom('bots as b')",
  [`${bots}/table.ts`]:
    "declare module '../../../platform/db/schema.js' {\n  interface Schema {\n    bots: BotsTable\n  }\n}\n",
  [`${integrations}/index.ts`]: '',
  [`${integrations}/store.ts`]: '',
  'packages/contract/src/index.ts': "import { Type } from 'typebox'",
  'packages/documents/src/index.ts': "import './read.js'",
  'packages/documents/src/read.ts': "import { createHash } from 'node:crypto'",
  'apps/dashboard/src/main.tsx': "import './screens/files/list.js'",
  'apps/dashboard/src/screens/files/list.tsx':
    "import '../../ui/page.js'\nimport './list.module.css'",
  'apps/dashboard/src/screens/logs/list.tsx': '',
  'apps/dashboard/src/ui/page.tsx': '',
}

describe('the walls between rooms and slices', () => {
  const folders: string[] = []

  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
  })

  async function breachesOf(changes: Record<string, string>): Promise<string[]> {
    return (await outputOf(changes)).stderr.split('\n').filter((line) => line !== '')
  }

  async function outputOf(changes: Record<string, string>) {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-walls-'))
    folders.push(folder)
    for (const [path, text] of Object.entries({ ...sound, ...changes })) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const script = join(checkout, 'scripts/walls.mjs')
    return await promisify(execFile)(process.execPath, [script, folder]).catch(
      (failure: { stdout: string; stderr: string }) => failure,
    )
  }

  it('stand in a project that keeps to them', async () => {
    expect(await breachesOf({})).toEqual([])
  })

  it.each<[rule: string, path: string, text: string, breach: string]>([
    [
      'platform imports no slice, not even by type',
      `${server}/platform/db/schema.ts`,
      "import type { Bots } from '../../features/bots/bots/index.js'",
      'platform does not import features',
    ],
    [
      'http imports no slice',
      `${server}/http/app.ts`,
      "import { x } from '../features/chat/index.js'",
      'http does not import features',
    ],
    [
      'commands use the container',
      `${server}/cli/start.ts`,
      "await import('../features/chat/index.js')",
      'cli does not import features',
    ],
    [
      'wings are imported one way',
      `${bots}/index.ts`,
      "import type { Chat } from '../../chat/index.js'",
      'the wing bots does not import chat',
    ],
    [
      'other slices are imported through their door',
      `${bots}/index.ts`,
      "export { list } from '../integrations/store.js'",
      'another slice is imported through its index.ts',
    ],
    [
      'sub-folders are imported through their door',
      `${server}/features/files/index.ts`,
      "import './uploads/parts.js'",
      'a sub-folder of a slice is imported through its index.ts',
    ],
    [
      'stores know no interface',
      `${bots}/store.ts`,
      "import type { Body } from '@botstead/contract'",
      'a store knows tables only',
    ],
    [
      'stores know no service',
      `${bots}/store.ts`,
      "import { rule } from './service.js'",
      'a store knows tables only',
    ],
    [
      'slices leave HTTP to its room',
      `${bots}/index.ts`,
      "import Fastify from 'fastify'",
      'leaves HTTP to the room http',
    ],
    [
      'a table is queried in its own slice',
      `${integrations}/store.ts`,
      "db.selectFrom('integrations').innerJoin('bots', 'a', 'b')",
      'queries bots: only bots/bots does',
    ],
    [
      'the contract runs in browsers',
      'packages/contract/src/index.ts',
      "import { join } from 'node:path'",
      'runs in browsers',
    ],
    [
      'packages stand alone',
      'packages/documents/src/read.ts',
      "import { ApiError } from '@botstead/contract'",
      'stands alone',
    ],
    [
      'packages import no app',
      'packages/documents/src/read.ts',
      "import { x } from '../../../apps/server/src/app/container.js'",
      'packages are imported by their names',
    ],
    [
      'rooms of an app are imported one way',
      'apps/dashboard/src/ui/page.tsx',
      "import type { List } from '../screens/files/list.js'",
      'ui does not import screens',
    ],
    [
      'rooms of an app do not import what stands beside them',
      'apps/dashboard/src/ui/page.tsx',
      "import { start } from '../main.js'",
      'a room does not import the files beside it',
    ],
    [
      'screens do not know each other',
      'apps/dashboard/src/screens/files/list.tsx',
      "import { List } from '../logs/list.js'",
      'folders of dashboard/screens do not import each other',
    ],
    [
      'a room of the server says what it may import',
      `${server}/extras/x.ts`,
      '',
      `${server}/extras is in no list`,
    ],
    [
      'a wing says what it may import',
      `${server}/features/extras/x/index.ts`,
      '',
      `${server}/features/extras is in no list`,
    ],
    [
      'a room of an app says what it may import',
      'apps/dashboard/src/extras/x.ts',
      '',
      'apps/dashboard/src/extras is in no list',
    ],
    [
      'an app says what its rooms may import',
      'apps/extra/src/x.ts',
      '',
      'apps/extra is in no list',
    ],
    ['a package says what it may import', 'packages/extra/src/x.ts', '', 'packages/extra is in no'],
    [
      'a function has 150 lines at most',
      `${bots}/index.ts`,
      `export function create() {${'\n'.repeat(150)}}`,
      'create has 151 lines, at most 150 are allowed',
    ],
    [
      'no slice is completed after it was built',
      `${bots}/index.ts`,
      'export interface Bots { provideName(name: string): void }',
      'provideName completes a slice later',
    ],
    [
      'few files know the built-in chat',
      `${bots}/index.ts`,
      "import { builtInChat } from '../built-in-chat/index.js'",
      'bots/bots/index.ts knows the built-in chat',
    ],
    [
      'a file that may know the built-in chat is taken from the list when it does not',
      `${bots}/bot-profile.ts`,
      '',
      'bot-profile.ts no longer knows the built-in chat',
    ],
    [
      'benchmarks import doors of slices',
      'bench/load.mjs',
      "import { store } from '#server/features/bots/bots/store.js'",
      'a slice is imported through its index.ts, unless a part of it is measured',
    ],
    [
      'benchmarks import no commands, not even by type',
      'bench/load.mjs',
      "/** @param {import('#server/cli/start.js').Start} start */",
      'bench does not import cli',
    ],
    [
      'benchmarks import the server by its name',
      'bench/load.mjs',
      "import { x } from '../apps/server/dist/app/container.js'",
      'packages are imported by their names',
    ],
    [
      'no part is named as measured that no benchmark imports',
      'bench/load.mjs',
      "import { x } from '#server/features/chat/index.js'",
      'features/search/query.ts is not measured any more',
    ],
    [
      'benchmarks are not imported',
      `${server}/app/container.ts`,
      "import { x } from '../../../../bench/load.mjs'",
      'benchmarks measure, and are not imported',
    ],
    [
      'there are no circles, types counted',
      'packages/documents/src/read.ts',
      "import type { x } from './index.js'",
      '2 files import each other in a circle',
    ],
  ])('%s', async (_rule, path, text, breach) => {
    expect(await breachesOf({ [path]: text })).toContainEqual(expect.stringContaining(breach))
  })

  it('are counted', async () => {
    const { stdout } = await outputOf({
      'packages/documents/src/read.ts': "import type { x } from './index.js'",
      [`${server}/http/app.ts`]: "import { x } from '../features/chat/index.js'",
      [`${server}/unlisted/index.ts`]: '',
      [`${integrations}/index.ts`]: "slice.provideBots(list)\nports.open<List>('bots')",
      [`${integrations}/store.ts`]: "db.selectFrom('bots')",
      [`${bots}/index.ts`]: `import '../built-in-chat/index.js'\nfunction long() {\n${'\n'.repeat(150)}}`,
      [`${server}/features/bots/built-in-chat/index.ts`]: '',
    })
    for (const figure of [
      '1  circles of imports',
      '1  imports past a door',
      '1  rooms that no list names',
      '1  queries of a table of another slice',
      '1  functions of more than 150 lines; 0 % of 1 ',
      '1  hooks that complete a slice later; 1 ports',
      '1  files that know the built-in chat',
    ]) {
      expect(stdout).toContain(`    ${figure}`)
    }
  })
})
