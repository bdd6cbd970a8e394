import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const require = createRequire(import.meta.url)
const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
const dashboard = fileURLToPath(new URL('../../../scripts/dashboard.mjs', import.meta.url))
const project = fileURLToPath(new URL('../tsconfig.build.json', import.meta.url))

/**
 * Builds the server and its dashboard, so that tests can start the real command; a second when little has changed.
 * @throws Error with what the compiler said
 */
export async function buildServer(): Promise<void> {
  try {
    await Promise.all([
      promisify(execFile)(process.execPath, [compiler, '-b', project]),
      promisify(execFile)(process.execPath, [dashboard]),
    ])
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    throw new Error(`The server cannot be built:\n${said.trim()}`)
  }
}
