import { execFile } from 'node:child_process'
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { checkout, withoutProxies } from '../documents.js'

const run = promisify(execFile)

/** The package, installed in a folder that was empty. */
export interface Installed extends AsyncDisposable {
  /** The folder in which somebody installed it. */
  folder: string
  /** Path of the command. */
  command: string
  /** The files of the package and of all packages that came with it, in bytes. */
  bytes: number
}

/**
 * Makes the package and installs it as npm does. What it depends on comes from this checkout; so
 * that no registry is needed.
 */
export async function installRelease(): Promise<Installed> {
  const place = await mkdtemp(join(tmpdir(), 'botstead-release-'))
  const packs = join(place, 'packs')
  const folder = join(place, 'installed')
  await mkdir(folder)
  // Built it is already, for all tests.
  await run(process.execPath, [join(checkout, 'scripts/pack.mjs'), packs])
  const [own] = await readdir(packs)
  if (own === undefined) throw new Error('No package was made')
  await writeFile(join(folder, 'package.json'), '{}')
  const { stdout } = await run('tar', ['-xzOf', join(packs, own), 'package/package.json'])
  const dependencies = await closureOf(Object.keys(JSON.parse(stdout).dependencies))
  await Promise.all(
    dependencies.map(async (path, index) => {
      const copy = join(place, 'copies', String(index))
      await cp(path, join(copy, 'package'), { recursive: true })
      // Not by npm: what a package excludes from packing was excluded before.
      await run('tar', ['-czf', join(packs, `${index}.tgz`), '-C', copy, 'package'])
    }),
  )
  const tarballs = (await readdir(packs)).map((name) => join(packs, name))
  await npm(folder, ['install', '--offline', '--cache', join(place, 'cache'), ...tarballs])
  return {
    folder,
    command: join(folder, 'node_modules/botstead/bin/botstead.js'),
    bytes: await bytesIn(join(folder, 'node_modules')),
    [Symbol.asyncDispose]: () => rm(place, { recursive: true, force: true }),
  }
}

async function npm(cwd: string, words: readonly string[]): Promise<void> {
  await run('npm', [...words, '--no-audit', '--no-fund'], {
    cwd,
    env: withoutProxies(process.env),
  })
}

/** Folders of packages of this checkout, with all that they depend on and that is installed here. */
async function closureOf(names: readonly string[]): Promise<string[]> {
  const found = new Map<string, string>()
  const add = async (name: string, from: string): Promise<void> => {
    if (found.has(name)) return
    const folder = await folderOf(name, from)
    // Those for other systems are optional.
    if (folder === undefined) return
    found.set(name, folder)
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const wanted = { ...manifest.dependencies, ...manifest.optionalDependencies }
    for (const each of Object.keys(wanted)) await add(each, folder)
  }
  for (const name of names) await add(name, join(checkout, 'apps/server'))
  return [...found.values()]
}

async function folderOf(name: string, from: string): Promise<string | undefined> {
  const folder = join(from, 'node_modules', name)
  const parent = dirname(from)
  return await realpath(folder).catch(() => (parent === from ? undefined : folderOf(name, parent)))
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const facts = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
  return facts.reduce((sum, { size }) => sum + size, 0)
}
