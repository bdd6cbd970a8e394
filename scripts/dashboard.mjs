import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { hashOfSources } from './sources.mjs'

// Builds the dashboard into the server, unless it is there already from the same sources. `--size` checks
// afterwards what a browser loads first.

const root = fileURLToPath(new URL('../', import.meta.url))
const home = join(root, 'apps/dashboard')
const out = join(root, 'apps/server/dist/dashboard')
const stamp = join(out, '.vite/sources')

/** Maximum size in compressed bytes of everything that a browser loads before the first screen is shown. */
const maxFirstLoad = 250_000
/** The screen that opens first. */
const firstScreen = 'src/screens/home/home.tsx'

const sources = {
  folders: ['apps/dashboard/src', 'packages/chat-view/src', 'packages/contract/src'],
  files: [
    'apps/dashboard/index.html',
    'apps/dashboard/vite.config.ts',
    'package-lock.json',
    'scripts/dashboard.mjs',
    'scripts/sources.mjs',
  ],
}

/** The files that a browser needs before a chunk runs: it, its styles and all that they import. */
function filesOf(manifest, name, found = new Set()) {
  const { file, css = [], imports = [] } = manifest[name]
  if (found.has(file)) return found
  for (const path of [file, ...css]) found.add(path)
  for (const imported of imports) filesOf(manifest, imported, found)
  return found
}

async function checkSize() {
  const manifest = JSON.parse(await readFile(join(out, '.vite/manifest.json'), 'utf8'))
  const files = new Set(['index.html', firstScreen].flatMap((name) => [...filesOf(manifest, name)]))
  let bytes = 0
  for (const file of files) bytes += brotliCompressSync(await readFile(join(out, file))).length
  const words = `The dashboard loads ${bytes} bytes (compressed) before its first screen, at most ${maxFirstLoad}.`
  process.stdout.write(`${words}\n`)
  if (bytes > maxFirstLoad) process.exitCode = 1
}

const hash = await hashOfSources(root, sources)
const built = await readFile(stamp, 'utf8').catch(() => undefined)
if (built !== hash) {
  // Tests that build it set another mode, in which React is slow and runs every effect twice.
  process.env.NODE_ENV = 'production'
  // Loading it takes longer than all of the rest.
  const { build } = await import('vite')
  await build({ root: home, logLevel: 'warn' })
  await writeFile(stamp, hash)
}
if (process.argv.includes('--size')) await checkSize()
