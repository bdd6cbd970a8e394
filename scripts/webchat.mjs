import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { licensesOf, packagesOf } from './licenses.mjs'
import { hashOfSources } from './sources.mjs'

// Builds the web chat into the server, unless it is there already from the same sources. `--size` checks
// afterwards what a page loads.

const root = fileURLToPath(new URL('../', import.meta.url))
const home = join(root, 'apps/webchat/src')
const out = join(root, 'apps/server/dist/webchat')
const stamp = join(out, '.sources')

/** Maximum size in compressed bytes of the script that every visitor of a page loads. */
const maxScript = 5000
/** Maximum size in compressed bytes of the chat, which the button loads. */
const maxWidget = 90_000

const sources = {
  folders: ['apps/webchat/src', 'packages/chat-view/src', 'packages/contract/src'],
  files: [
    'package-lock.json',
    'scripts/webchat.mjs',
    'scripts/licenses.mjs',
    'scripts/sources.mjs',
  ],
}

/** Styles as texts, without what only their readers need. */
const styles = {
  name: 'styles',
  transform: {
    filter: { id: /\.css$/ },
    handler: (text) => ({
      code: `export default ${JSON.stringify(
        text
          .replaceAll(/\/\*[\s\S]*?\*\//g, '')
          .replaceAll(/\s+/g, ' ')
          .replaceAll(/ ?([{};,>]) ?/g, '$1')
          .replaceAll(/([ :(,])0\./g, '$1.')
          .replaceAll(': ', ':')
          .replaceAll(';}', '}'),
      )}`,
      moduleType: 'js',
    }),
  },
}

/** Tools for developers of React show the components of the page around the chat, and leave those of the chat out. */
const reactDefines = {
  'process.env.NODE_ENV': '"production"',
  __REACT_DEVTOOLS_GLOBAL_HOOK__: 'undefined',
}

async function bundle(input, format, define) {
  // Loading it takes longer than most of the rest.
  const { rolldown } = await import('rolldown')
  const made = await rolldown({
    input: join(home, input),
    platform: 'browser',
    plugins: [styles],
    resolve: { conditionNames: ['botstead:source', 'import', 'browser', 'default'] },
    transform: { target: 'es2022', define: { ...reactDefines, ...define } },
  })
  const { output } = await made.generate({ format, minify: true, codeSplitting: false })
  await made.close()
  return { code: output[0].code, modules: output[0].moduleIds }
}

async function build() {
  const widget = await bundle('main.tsx', 'esm', {})
  const hash = createHash('sha256').update(widget.code).digest('base64url').slice(0, 10)
  const name = `widget-${hash}.js`
  const script = await bundle('loader/main.ts', 'iife', { widgetFile: JSON.stringify(name) })
  await rm(out, { recursive: true, force: true })
  await mkdir(join(out, 'assets'), { recursive: true })
  await writeFile(join(out, 'assets', name), widget.code)
  // As small as it can be made: everybody who opens a chat waits for it.
  await writeFile(join(out, 'assets', `${name}.br`), brotliCompressSync(widget.code))
  await writeFile(join(out, 'inject.js'), script.code)
  const preview = await bundle('preview/main.ts', 'iife', {})
  await writeFile(join(out, 'preview.js'), preview.code)
  // For the package that is installed.
  const packages = packagesOf([...widget.modules, ...script.modules, ...preview.modules])
  await writeFile(join(out, '.licenses.md'), await licensesOf(packages))
}

async function checkSize() {
  const names = await readdir(join(out, 'assets'))
  const name = names.find((each) => each.endsWith('.js')) ?? ''
  const check = async (words, path, most) => {
    const bytes = brotliCompressSync(await readFile(join(out, path))).length
    process.stdout.write(`${words} ${bytes} bytes (compressed), at most ${most}.\n`)
    if (bytes > most) process.exitCode = 1
  }
  await check('The script of the web chat has', 'inject.js', maxScript)
  await check('The web chat that it loads has', `assets/${name}`, maxWidget)
}

const hash = await hashOfSources(root, sources)
const built = await readFile(stamp, 'utf8').catch(() => undefined)
if (built !== hash) {
  await build()
  await writeFile(stamp, hash)
}
if (process.argv.includes('--size')) await checkSize()
