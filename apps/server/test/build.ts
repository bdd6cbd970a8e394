import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const require = createRequire(import.meta.url)
const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
const pages = ['dashboard', 'webchat'].map((name) =>
  fileURLToPath(new URL(`../../../scripts/${name}.mjs`, import.meta.url)),
)
const project = fileURLToPath(new URL('../tsconfig.build.json', import.meta.url))

/**
 * Builds the server, its dashboard and its web chat, so that tests can start the real command; a second when little has changed.
 * @throws Error with what the compiler said
 */
export async function buildServer(): Promise<void> {
  try {
    await Promise.all([
      promisify(execFile)(process.execPath, [compiler, '-b', project]),
      ...pages.map((script) => promisify(execFile)(process.execPath, [script])),
    ])
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    throw new Error(`The server cannot be built:\n${said.trim()}`)
  }
}
