import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The arguments that start a module in a process of its own. */
export interface WorkerEntry {
  /** Path of the module. */
  filename: string
  /** Node options that its language needs. */
  execArgv: string[]
}

/**
 * Finds the module that the workers of a pool run: the built one, or in a checkout its source, for
 * which the development tools bring a loader.
 *
 * @param entry address of the module as JavaScript, such as `new URL('./x.js', import.meta.url)`
 */
export function resolveEntry(entry: URL): WorkerEntry {
  const built = fileURLToPath(entry)
  const source = built.replace(/\.js$/, '.ts')
  if (existsSync(built) || !existsSync(source)) return { filename: built, execArgv: [] }
  return {
    filename: source,
    execArgv: ['--conditions=botstead:source', '--import', import.meta.resolve('tsx')],
  }
}

/** The arguments that start a module in a thread. */
export interface ThreadEntry {
  /** Script, or path of the module when `isScript` is false. */
  code: string
  isScript: boolean
  /** Node options that its language needs. */
  execArgv: string[]
}

/** As {@link resolveEntry}; a thread takes the loader from a script, not from its options. */
export function resolveThreadEntry(entry: URL): ThreadEntry {
  const { filename } = resolveEntry(entry)
  if (!filename.endsWith('.ts')) return { code: filename, isScript: false, execArgv: [] }
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const module = JSON.stringify(pathToFileURL(filename).href)
  return {
    code: `import(${loader}).then(({ register }) => (register(), import(${module})))`,
    isScript: true,
    execArgv: ['--conditions=botstead:source'],
  }
}
