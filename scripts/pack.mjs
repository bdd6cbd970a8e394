import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { rolldown } from 'rolldown'
import { licensesOf, packagesOf } from './licenses.mjs'

// Makes the package that is installed: `npm run pack:release -- <folder>`. The server, and all packages whose
// code it needs, are bundled from the build; dependencies are only those with native code.

const brotli = promisify(brotliCompress)
const root = fileURLToPath(new URL('../', import.meta.url))
const server = join(root, 'apps/server')
const botHost = join(root, 'apps/bot-host')
const requireOf = (folder) => createRequire(join(folder, 'package.json'))
/** The files of the reference, in a package that is copied and not bundled. */
const referenceFolder = dirname(requireOf(server).resolve('#swagger-ui/swagger-ui.css'))

/** Packages with files for the system that they run on, which npm chooses. */
const native = ['@photostructure/sqlite', 'sqlite-vec']
/** Drivers that packages load only if they are installed, and that are not. */
const absent = ['pg-native']

/** Bundles entries into a folder; returns the modules that went in. */
async function bundle(input, dir) {
  const made = await rolldown({
    input,
    platform: 'node',
    external: [...native, ...absent],
    logLevel: 'warn',
    checks: { eval: false },
  })
  const { output } = await made.write({
    dir,
    format: 'esm',
    // Flat, because modules find workers beside themselves.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // Names and lines stay, which errors show; comments are only read by those who have the sources.
    comments: false,
    minify: false,
    plugins: [{ name: 'ascii', renderChunk: (code) => toAscii(code) }],
  })
  await made.close()
  return output.flatMap((each) => each.moduleIds ?? [])
}

/**
 * Escapes all characters outside of ASCII, because Node reads such code four times as fast. In code, each of them is in a
 * place where it may be escaped.
 */
function toAscii(code) {
  return code.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

async function readJson(path) {
  return JSON.parse(await readFile(path, 'utf8'))
}

/** The version that is installed here, and was tested. */
async function versionOf(name) {
  const paths = requireOf(server).resolve.paths(name) ?? []
  for (const path of paths) {
    const found = await readJson(join(path, name, 'package.json')).catch(() => undefined)
    if (found !== undefined) return found.version
  }
  throw new Error(`The package ${name} is not installed: run "npm ci".`)
}

/** Programs of threads and processes, which are started by their name beside the code that starts them. */
async function listWorkers() {
  const files = await readdir(join(server, 'dist'), { recursive: true })
  return files.filter((file) => file.endsWith('-worker.js'))
}

async function writeManifest(folder) {
  const { version, description, license, engines } = await readJson(join(root, 'package.json'))
  const versions = await Promise.all(native.map(async (name) => [name, await versionOf(name)]))
  const manifest = {
    name: 'botstead',
    version,
    description,
    license,
    type: 'module',
    bin: { botstead: 'bin/botstead.js' },
    engines,
    imports: {
      '#bot-host': './bot-host/dist/main.js',
      '#swagger-ui/*': './dist/swagger-ui/*',
      '#draft-07': './dist/draft-07.json',
    },
    dependencies: Object.fromEntries(versions),
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** Puts everything of the package into a folder. */
async function makePackage(folder) {
  const modules = await bundlePrograms(folder)
  await copyFiles(folder)
  await writeLicenses(folder, modules)
  await writeManifest(folder)
}

/** Bundles the server with its workers, and the host program; returns the modules of the server. */
async function bundlePrograms(folder) {
  const files = ['main.js', ...(await listWorkers())]
  const entries = files.map((file) => [basename(file, '.js'), join(server, 'dist', file)])
  const modules = await bundle(Object.fromEntries(entries), join(folder, 'dist'))
  // A package of its own: deployed code may read its folder and no other.
  const host = join(folder, 'bot-host')
  await bundle({ main: join(botHost, 'dist/main.js') }, join(host, 'dist'))
  await writeFile(join(host, 'package.json'), '{ "type": "module" }\n')
  return modules
}

/** Copies what is not bundled: pages, demo, files of packages, and what the guides name. */
async function copyFiles(folder) {
  const dist = join(folder, 'dist')
  await cp(join(server, 'bin'), join(folder, 'bin'), { recursive: true })
  await cp(join(server, 'demo'), join(folder, 'demo'), { recursive: true })
  for (const name of ['dashboard', 'webchat']) {
    // Licences and notes of builds, whose names begin with a dot, are for what follows here.
    const filter = (path) => !basename(path).startsWith('.')
    await cp(join(server, 'dist', name), join(dist, name), { recursive: true, filter })
    await compressAll(join(dist, name, 'assets'))
  }
  await mkdir(join(dist, 'swagger-ui'))
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    await cp(join(referenceFolder, name), join(dist, 'swagger-ui', name))
  }
  await compressAll(join(dist, 'swagger-ui'))
  const schema = requireOf(join(root, 'packages/json-schema')).resolve('#draft-07')
  await cp(schema, join(dist, 'draft-07.json'))
  // Unit, proxies, image and alerts; and the guides themselves, for machines without a browser.
  // The server itself serves the description of its interface.
  const filter = (path) => basename(path) !== 'openapi.json'
  for (const name of ['deploy', 'docs']) {
    await cp(join(root, name), join(folder, name), { recursive: true, filter })
  }
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  await cp(join(server, 'README.md'), join(folder, 'README.md'))
}

/** Replaces the files of a folder, except licences, by what brotli makes of them: the server knows both. */
async function compressAll(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || /^LICENSE|\.br$/.test(entry.name)) continue
    const bytes = await readFile(path)
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    await writeFile(`${path}.br`, await brotli(bytes, { params }))
    await rm(path)
  }
}

async function writeLicenses(folder, modules) {
  const packages = [...packagesOf(modules), dirname(referenceFolder)]
  const texts = [
    '# Licences of the packages whose code is part of this one\n',
    await licensesOf(packages),
    '# Of the dashboard\n',
    await readFile(join(server, 'dist/dashboard/.vite/license.md'), 'utf8'),
    '# Of the web chat\n',
    await readFile(join(server, 'dist/webchat/.licenses.md'), 'utf8'),
  ]
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.md'), texts.join('\n'))
}

const [target] = process.argv.slice(2)
if (target === undefined) {
  process.stderr.write('Name a folder for the package: npm run pack:release -- <folder>\n')
  process.exit(1)
}
const folder = await mkdtemp(join(tmpdir(), 'botstead-package-'))
try {
  await makePackage(folder)
  await mkdir(target, { recursive: true })
  const args = ['pack', '--json', '--pack-destination', resolve(target)]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder })
  const [{ filename, size, unpackedSize }] = JSON.parse(stdout)
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`
  process.stdout.write(
    `${join(target, filename)}: ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked\n`,
  )
} finally {
  await rm(folder, { recursive: true })
}
