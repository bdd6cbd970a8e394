import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** How to load a module in a thread. */
export interface WorkerEntry {
  /** Path of the module. */
  filename: string
  /** Node options of the thread. */
  execArgv: string[]
}

/**
 * Finds the module that a pool's threads load: the built one, or in a checkout its source.
 *
 * @param entry address of the module as JavaScript, such as `new URL('./x.js', import.meta.url)`
 */
export function resolveEntry(entry: URL): WorkerEntry {
  const built = fileURLToPath(entry)
  const source = built.replace(/\.js$/, '.ts')
  if (existsSync(built) || !existsSync(source)) return { filename: built, execArgv: [] }
  return { filename: source, execArgv: sourceOptions() }
}

/**
 * Options for TypeScript. A thread does not inherit the transforms that its process got from a test
 * runner, and tsx alone sets up nothing but main threads on Node 20.
 */
function sourceOptions(): string[] {
  const api = pathToFileURL(createRequire(import.meta.url).resolve('tsx/esm/api'))
  const script = `import { register } from ${JSON.stringify(new URL('./index.mjs', api))}; register()`
  const hooks = `data:text/javascript,${encodeURIComponent(script)}`
  return ['--conditions=botstead:source', '--import', hooks]
}
