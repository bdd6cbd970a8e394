import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type InputOptions, type Plugin, rolldown } from 'rolldown'
import type { Keeper } from './keeper.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const src = fileURLToPath(new URL('../src/', import.meta.url))
const programs = fileURLToPath(new URL('./programs/', import.meta.url))
const runner = fileURLToPath(new URL('./processes/cached-command.cjs', import.meta.url))
/** Below the server, so that packages outside of the bundle are found. */
const place = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))

/** The programs that tests start, in few files instead of 1600. */
export interface Bundle {
  /** The script to start, or the folder of the programs. */
  path: string
  /** Takes over what was built since. */
  bundle(): Promise<void>
}

/** Packages with native code or threads of their own, which load files that are beside them. */
const outside = /^(@photostructure\/sqlite|pg-native|sqlite-vec)/

const parts: Plugin = {
  name: 'parts',
  resolveId: (id) => (outside.test(id) ? { id, external: true } : undefined),
  // Files beside a module are still found where the build has them.
  transform: (code, id) =>
    id.startsWith(root) && !id.startsWith(programs)
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : undefined,
}

/** The address of a worker, as the module beside it writes it. */
const addressOfWorker = /new URL\(['"]\.\/([\w-]+-worker\.js)['"], import\.meta\.url\)/g

/** Lets modules start the bundled workers. */
const bundledWorkers = (folder: string): Plugin => ({
  name: 'bundled-workers',
  transform: (code, id) =>
    id.startsWith(dist)
      ? code.replaceAll(addressOfWorker, (_, name: string) => {
          const path = bundleOf(folder, join(dirname(id), name))
          return `new URL(${JSON.stringify(pathToFileURL(path).href)})`
        })
      : undefined,
})

/** Path of the bundle of a built worker, below the folder of these bundles. */
export function bundleOf(folder: string, worker: string): string {
  return join(folder, relative(dist, worker).replace(/\.js$/, '.mjs'))
}

/** Makes a folder for a bundle, and fills it. */
async function createBundle(
  keeper: Keeper,
  fill: (folder: string) => Promise<void>,
  name = '',
): Promise<Bundle> {
  await mkdir(place, { recursive: true })
  const folder = await keeper.createFolder(place)
  const bundle = () => fill(folder)
  await bundle()
  return { path: join(folder, name), bundle }
}

/** Bundles modules into one file each, and files that several of them share. */
async function bundleModules(folder: string, options: InputOptions): Promise<void> {
  await using build = await rolldown({ platform: 'node', logLevel: 'silent', ...options })
  await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
}

/**
 * Bundles the modules that the server starts as threads and processes of its own: most of a start is reading their
 * hundreds of modules, and nearly every server under test starts some of them.
 */
export async function bundleWorkers(keeper: Keeper): Promise<Bundle> {
  return await createBundle(keeper, async (folder) => {
    const found = await readdir(dist, { recursive: true })
    const names = found.filter((name) => name.endsWith('-worker.js'))
    await bundleModules(folder, {
      input: Object.fromEntries(names.map((name) => [name.replace(/\.js$/, ''), join(dist, name)])),
      plugins: [parts],
    })
  })
}

const command = 'main.cjs'

/**
 * Bundles the command as built, and compiles it once: a start of it then takes little more than half
 * of the time, and tests start it hundreds of times.
 * @param workers folder of the bundled workers that it starts
 */
export async function bundleCommand(keeper: Keeper, workers: string): Promise<Bundle> {
  return await createBundle(
    keeper,
    async (folder) => {
      await using build = await rolldown({
        input: join(dist, 'main.js'),
        platform: 'node',
        logLevel: 'silent',
        plugins: [bundledWorkers(workers), parts],
      })
      const { output } = await build.generate({
        format: 'cjs',
        codeSplitting: false,
        dynamicImportInCjs: false,
        comments: false,
        // Names stay, which errors show.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      })
      await writeFile(join(folder, 'command.cjs'), toAscii(output[0].code))
      await copyFile(runner, join(folder, command))
      await rm(join(folder, 'command.cjs.cache'), { force: true })
      await compile(join(folder, command))
    },
    command,
  )
}

/** As the modules that tests import, those of a program are the built ones. */
const builtModules: Plugin = {
  name: 'built-modules',
  resolveId(id, importer = '') {
    const path = resolve(dirname(importer), id)
    return id.startsWith('.') && path.startsWith(src)
      ? join(dist, path.slice(src.length))
      : undefined
  },
}

/**
 * Bundles the programs that tests start as processes and threads of their own: translating their modules
 * at each start takes half a second.
 */
export async function bundlePrograms(keeper: Keeper): Promise<Bundle> {
  return await createBundle(keeper, async (folder) => {
    const names = await readdir(programs)
    await bundleModules(folder, {
      input: names.map((name) => join(programs, name)),
      plugins: [builtModules, parts],
      resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
      transform: { target: 'node20' },
    })
  })
}

/** Code that is read four times as fast as with other characters; each may be escaped wherever it stands. */
function toAscii(code: string): string {
  return code.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Starts a server, which leaves its compiled code for others. */
async function compile(path: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'botstead-compiled-'))
  const child = spawn(process.execPath, [path, 'start'], {
    env: { PATH: process.env.PATH, BOTSTEAD_DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
    // A first start shows this last.
    if (!child.killed && written.includes('curl ')) child.kill('SIGUSR2')
  })
  const [status] = await ended
  await rm(dataDir, { recursive: true, force: true })
  if (status !== 0) throw new Error(`The bundled command ended with ${status}:\n${written}`)
}
