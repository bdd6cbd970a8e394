// Checks imports between rooms, access to tables and the length of functions: `npm run check:walls`. The page
// ARCHITECTURE.md says the same in words. Imports of types count like others.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { functionFaults, lateHookFaults, longOf, maxLines, measureFunctions } from './functions.mjs'

const server = 'apps/server/src'

/** Wings of features with those that they may import, as in the picture of ARCHITECTURE. */
const wings = {
  tenancy: [],
  bots: ['tenancy'],
  hosting: ['tenancy', 'bots'],
  calls: ['tenancy', 'bots', 'hosting'],
  inbound: ['tenancy', 'bots', 'calls'],
  conversations: ['tenancy', 'bots', 'calls'],
  deliveries: ['tenancy', 'bots', 'hosting', 'calls', 'conversations'],
  chat: ['tenancy', 'bots', 'calls', 'conversations', 'deliveries'],
  files: ['tenancy', 'bots'],
  search: ['tenancy', 'bots', 'files'],
  evaluation: ['tenancy', 'bots', 'files', 'search'],
  workspace: ['tenancy', 'bots', 'hosting', 'calls', 'conversations', 'deliveries', 'files'],
  operations: ['tenancy', 'deliveries', 'files', 'search'],
}
/** Wings that are one slice; in the others each folder is a slice. */
const singleSlices = new Set(['hosting', 'deliveries', 'chat', 'files', 'search', 'evaluation'])

/** Rooms of the server that may import a room or a package; a room may always import itself. */
const rooms = {
  platform: [],
  config: ['platform'],
  domain: ['platform', 'config'],
  http: ['platform', 'domain', 'config'],
  features: ['platform', 'domain', 'http', 'config'],
  migrations: ['platform'],
  app: ['platform', 'domain', 'config', 'http', 'features', 'migrations'],
  cli: ['platform', 'domain', 'config', 'app'],
}

/** Rooms of the other apps that may import a room; files beside the rooms may import all of them. */
const apps = {
  dashboard: {
    api: [],
    ui: ['api'],
    frame: ['api', 'ui'],
    screens: ['api', 'ui', 'frame'],
  },
  webchat: {
    shared: [],
    translations: ['shared'],
    client: ['shared'],
    view: ['shared', 'translations', 'client'],
    loader: ['shared', 'translations'],
    preview: ['shared', 'loader'],
  },
  'bot-host': {},
}
/** Rooms of apps whose folders do not know each other. */
const separateFolders = new Set(['dashboard/screens'])

/** The home of the built-in chat, which other files see as an integration that comes with the server. */
const builtInChat = `${server}/features/bots/built-in-chat/`
/** Files that may know more of the chat than that. */
const knowChat = new Set(
  [
    'app/features.ts',
    'features/bots/bots/bot-profile.ts',
    'features/bots/installations/built-in.ts',
    'features/bots/installations/changes.ts',
    'features/bots/integrations/built-in.ts',
    'features/chat/webchat/shapes.ts',
  ].map((path) => `${server}/${path}`),
)

/** Imports that benchmarks may use: the rooms of the server, the doors of slices, and the parts named here. */
const bench = {
  rooms: ['platform', 'domain', 'config', 'migrations', 'http', 'app', 'features'],
  /** Inner parts that are measured by themselves. */
  measured: new Set(
    [
      'conversations/analytics/counting.ts',
      'search/query.ts',
      'search/retrieval/candidate-texts.ts',
      'search/retrieval/find.ts',
      'search/retrieval/grams.ts',
      'search/retrieval/ranker.ts',
      'search/retrieval/semantic-retriever.ts',
      'search/vectors/lsa/fit.ts',
      'search/vectors/lsa/model.ts',
      'search/vectors/packed-vectors.ts',
      'search/vectors/sqlite-vectors.ts',
    ].map((path) => `${server}/features/${path}`),
  ),
}
const isBench = (path) => path.startsWith('bench/')

/** Modules that files below a path must not import. */
const forbiddenModules = [
  [
    'packages/contract/src',
    /^(node:|fastify|@fastify\/|@botstead\/(?!contract))/,
    'runs in browsers: typebox only',
  ],
  [
    'packages/chat-view/src',
    /^(node:|fastify|@fastify\/|@botstead\/)/,
    'runs in browsers, and stands alone',
  ],
  ['packages/json-schema/src', /^@botstead\//, 'stands alone'],
  ['packages/documents/src', /^@botstead\//, 'stands alone'],
  [
    `${server}/platform`,
    /^(fastify|@fastify\/|@botstead\/)/,
    'knows rows and bytes, not the interface',
  ],
  [`${server}/features`, /^(fastify|@fastify\/)/, 'leaves HTTP to the room http'],
]
/** The door of a slice or of a sub-folder; `reading.ts` is the one for threads that only read. */
const isDoor = /\/(index|reading)\.ts$/
/** Files of a slice that hold its SQL. */
const isStore = (path) => /\/([a-z-]+-)?store\.ts$|\/table\.ts$/.test(path)

/** All sources of a checkout, by path. */
async function readSources(checkout) {
  const packages = await readdir(join(checkout, 'packages')).catch(() => [])
  const named = await readdir(join(checkout, 'apps')).catch(() => [])
  const folders = [
    ...named.map((name) => `apps/${name}/src`),
    ...packages.map((name) => `packages/${name}/src`),
  ]
  const sources = new Map()
  for (const folder of folders) {
    const names = await readdir(join(checkout, folder), { recursive: true }).catch(() => [])
    for (const name of names) {
      if (!/\.tsx?$/.test(name) || /\.test\.ts$|(^|\/)conformance\.ts$|\.fixture\.ts$/.test(name))
        continue
      const path = `${folder}/${name.replaceAll('\\', '/')}`
      sources.set(path, await readFile(join(checkout, path), 'utf8'))
    }
  }
  for (const name of await readdir(join(checkout, 'bench')).catch(() => [])) {
    if (!name.endsWith('.mjs')) continue
    sources.set(`bench/${name}`, await readFile(join(checkout, 'bench', name), 'utf8'))
  }
  return sources
}

const importPattern = /\b(?:from|import)\s*\(?\s*'([^']+)'/g

/** The imports of a file: paths of the project, and names of modules. */
function importsOf(path, text, sources) {
  const files = []
  const modules = []
  for (const [, given] of text.matchAll(importPattern)) {
    if (isBench(path) && given.startsWith('#server/')) {
      files.push(given.replace('#server', server).replace(/\.js$/, '.ts'))
    } else if (!given.startsWith('.')) modules.push(given)
    else {
      const target = normalize(join(dirname(path), given)).replace(/\.js$/, '.ts')
      if (sources.has(`${target}x`)) files.push(`${target}x`)
      else if (!/\.(json|css)$/.test(given)) files.push(target)
    }
  }
  return { files, modules }
}

/** The location of a file: the room of the server, and in features the wing and the slice. */
function placeOf(path) {
  if (!path.startsWith(`${server}/`)) return placeInApp(path)
  const [room, wing, slice] = path.slice(server.length + 1).split('/')
  if (room !== 'features' || !(wing in wings))
    return { room: room.endsWith('.ts') ? undefined : room }
  return { room, wing, slice: singleSlices.has(wing) ? wing : `${wing}/${slice}` }
}

/** The location of a file outside of the server: its package, and in an app its room and the folder there. */
function placeInApp(path) {
  const [kind, name, , room, folder, ...rest] = path.split('/')
  const place = { package: `${kind}/${name}` }
  if (kind !== 'apps' || folder === undefined) return place
  return { ...place, app: name, appRoom: room, folder: rest.length > 0 ? folder : undefined }
}

/** The room of a file that no list here names: nobody would have said who may import it. */
function unlistedRoom(path) {
  const [kind, name, , room, wing, slice] = path.split('/')
  if (kind === 'packages') return isListedPackage(name) ? undefined : `packages/${name}`
  if (kind !== 'apps') return undefined
  if (name !== 'server') {
    if (!(name in apps)) return `apps/${name}`
    return wing === undefined || room in apps[name] ? undefined : `apps/${name}/src/${room}`
  }
  if (wing === undefined || (room in rooms && room !== 'features')) return undefined
  return room === 'features' && (slice === undefined || wing in wings)
    ? undefined
    : `${server}/${room === 'features' ? `features/${wing}` : room}`
}

function isListedPackage(name) {
  return forbiddenModules.some(([beginning]) => beginning === `packages/${name}/src`)
}

function* unlistedRooms(sources) {
  for (const room of new Set([...sources.keys()].map(unlistedRoom))) {
    if (room !== undefined)
      yield `${room} is in no list of scripts/walls.mjs: say what it may import`
  }
}

/** Benchmarks know each other, and the server as `#server/...`. */
function benchFault(to) {
  if (isBench(to)) return undefined
  if (!to.startsWith(`${server}/`)) return 'packages are imported by their names'
  const { room } = placeOf(to)
  if (!bench.rooms.includes(room)) return `bench does not import ${room ?? 'this'}`
  if (room !== 'features' || isDoor.test(to) || bench.measured.has(to)) return undefined
  return 'a slice is imported through its index.ts, unless a part of it is measured'
}

function importFault(from, to) {
  if (isBench(from)) return benchFault(to)
  if (isBench(to)) return 'benchmarks measure, and are not imported'
  const here = placeOf(from)
  const there = placeOf(to)
  if (here.package !== there.package) return 'packages are imported by their names'
  if (here.appRoom !== undefined) return appFault(here, there)
  if (here.room === undefined || there.room === undefined) return undefined
  if (here.room !== there.room && !rooms[here.room]?.includes(there.room)) {
    return `${here.room} does not import ${there.room}`
  }
  if (there.slice === undefined || here.room !== 'features') return undefined
  if (here.slice === there.slice) return subFolderFault(from, to)
  if (
    here.slice !== undefined &&
    here.wing !== there.wing &&
    !wings[here.wing].includes(there.wing)
  ) {
    return `the wing ${here.wing} does not import ${there.wing}`
  }
  return isDoor.test(to) ? undefined : 'another slice is imported through its index.ts'
}

function appFault(here, there) {
  if (there.appRoom === undefined) return 'a room does not import the files beside it'
  if (here.appRoom !== there.appRoom) {
    return apps[here.app]?.[here.appRoom]?.includes(there.appRoom)
      ? undefined
      : `${here.appRoom} does not import ${there.appRoom}`
  }
  const room = `${here.app}/${here.appRoom}`
  return separateFolders.has(room) && there.folder !== undefined && here.folder !== there.folder
    ? `folders of ${room} do not import each other`
    : undefined
}

/** Sub-folders of one slice have doors of their own. */
function subFolderFault(from, to) {
  const { slice } = placeOf(from)
  const base = `${server}/features/${slice}`
  const own = dirname(from).slice(base.length)
  const target = dirname(to).slice(base.length)
  // Files of the same folder, or of one around it, are not in another room.
  if (own === target || `${own}/`.startsWith(`${target}/`)) return undefined
  // The door of a sub-folder may import its own folders.
  if (own !== '' && isDoor.test(from) && target.startsWith(`${own}/`)) return undefined
  return isDoor.test(to) ? undefined : 'a sub-folder of a slice is imported through its index.ts'
}

function* importFaults(sources) {
  for (const [path, text] of sources) {
    const { files, modules } = importsOf(path, text, sources)
    for (const file of files) {
      const fault = importFault(path, file)
      if (fault) yield `${path} imports ${file}: ${fault}`
      if (isStore(path) && /\/(service|routes|view)\.ts$|\/http\//.test(file)) {
        yield `${path} imports ${file}: a store knows tables only`
      }
    }
    for (const module of modules) {
      for (const [beginning, pattern, reason] of forbiddenModules) {
        if (path.startsWith(beginning) && pattern.test(module))
          yield `${path} imports ${module}: ${beginning} ${reason}`
      }
      if (isStore(path) && module === '@botstead/contract')
        yield `${path} imports ${module}: a store knows tables only`
    }
  }
}

/** Files outside of the home of the built-in chat that import it. */
function knowingChat(sources) {
  const importsIt = (path, text) =>
    importsOf(path, text, sources).files.some((file) => file.startsWith(builtInChat))
  return [...sources]
    .filter(([path, text]) => !path.startsWith(builtInChat) && importsIt(path, text))
    .map(([path]) => path)
}

/** Files that import the built-in chat and may not, and those that may and do not. */
function* chatFaults(sources) {
  const left = new Set(knowChat)
  for (const path of knowingChat(sources)) {
    if (left.delete(path)) continue
    yield `${path} knows the built-in chat: ask bots/installations whether something is built in`
  }
  for (const path of left) {
    if (sources.has(path))
      yield `${path} no longer knows the built-in chat: take it from scripts/walls.mjs`
  }
}

/** Parts that may be imported to be measured, and no longer are. */
function* benchFaults(sources) {
  const known = [...sources.keys()].filter(isBench)
  if (known.length === 0) return
  const imported = new Set(
    known.flatMap((path) => importsOf(path, sources.get(path), sources).files),
  )
  for (const path of bench.measured) {
    if (!imported.has(path))
      yield `${path} is not measured any more: take it from scripts/walls.mjs`
  }
}

/** Groups of files with circular imports. */
function* circles(sources) {
  const index = new Map()
  const low = new Map()
  const stack = []
  const found = []
  function visit(path) {
    index.set(path, index.size)
    low.set(path, index.get(path))
    stack.push(path)
    for (const next of importsOf(path, sources.get(path), sources).files) {
      if (!sources.has(next)) continue
      if (!index.has(next)) {
        visit(next)
        low.set(path, Math.min(low.get(path), low.get(next)))
      } else if (stack.includes(next)) low.set(path, Math.min(low.get(path), index.get(next)))
    }
    if (low.get(path) !== index.get(path)) return
    const group = stack.splice(stack.indexOf(path))
    if (group.length > 1) found.push(group)
  }
  for (const path of sources.keys()) if (!index.has(path)) visit(path)
  for (const group of found)
    yield `${group.length} files import each other in a circle: ${group.join(', ')}`
}

const query =
  /\.?(?:selectFrom|insertInto|updateTable|deleteFrom|innerJoin|leftJoin|from|using)\(\s*'(\w+)/g

/** Tables that are queried outside of the slice or room that declares them. */
function* tableFaults(sources) {
  const owners = new Map()
  for (const [path, text] of sources) {
    if (!path.endsWith('/table.ts')) continue
    const [, tables = ''] = /interface Schema \{([\s\S]*?)\n {2}\}/.exec(text) ?? []
    for (const [, name] of tables.matchAll(/^\s+(\w+):/gm)) owners.set(name, ownerOf(path))
  }
  for (const [path, text] of sources) {
    // Benchmarks fill a database themselves, with more than calls could in the time.
    if (path.includes('/migrations/') || isBench(path)) continue
    for (const [, name] of text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '').matchAll(query)) {
      const owner = owners.get(name)
      if (owner !== undefined && owner !== ownerOf(path)) {
        yield `${path} queries ${name}: only ${owner} does, call its index.ts`
      }
    }
  }
}

function ownerOf(path) {
  const { room, slice } = placeOf(path)
  if (slice !== undefined) return slice
  return room === 'platform'
    ? path
        .slice(server.length + 1)
        .split('/')
        .slice(0, 2)
        .join('/')
    : room
}

/** The table of a reader's obstacles in docs/decisions/0033-the-house.md, with its counts now. */
function* figuresOf(sources, functions, found) {
  const texts = [...sources]
  const lines = texts.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0)
  const isShort = ({ lines: length }) => length < 40
  const short = Math.floor((100 * functions.filter(isShort).length) / functions.length)
  const ports = texts.reduce((sum, [, text]) => sum + text.split(/\bports\.open[<(]/).length - 1, 0)
  yield [sources.size, `files with ${lines.toLocaleString('en')} lines`]
  yield [found.circles.length, 'circles of imports, those of types counted']
  yield [found.imports.length, 'imports past a door, or against the order of rooms and wings']
  yield [found.rooms.length, 'rooms that no list names']
  yield [found.tables.length, 'queries of a table of another slice']
  yield [
    longOf(functions).length,
    `functions of more than ${maxLines} lines; ${short} % of ${functions.length.toLocaleString('en')} have fewer than 40`,
  ]
  yield [
    found.hooks.length,
    `hooks that complete a slice later; ${ports} ports, which must be filled`,
  ]
  yield [knowingChat(sources).length, 'files that know the built-in chat, outside of its folder']
}

// Tests pass another checkout.
const checkout = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
const sources = await readSources(checkout)
const functions = measureFunctions(sources)
const found = {
  imports: [...importFaults(sources)],
  rooms: [...unlistedRooms(sources)],
  functions: [...functionFaults(functions)],
  hooks: [...lateHookFaults(sources)],
  bench: [...benchFaults(sources)],
  chat: [...chatFaults(sources)],
  circles: [...circles(sources)],
  tables: [...tableFaults(sources)],
}
const breaches = Object.values(found).flat()
for (const breach of breaches) console.error(breach)
for (const [count, what] of figuresOf(sources, functions, found))
  console.log(`${String(count).padStart(5)}  ${what}`)
console.log(`${breaches.length} breaches`)
process.exitCode = breaches.length > 0 ? 1 : 0
