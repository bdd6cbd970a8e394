import { createRequire, Module } from 'node:module'
import { constants, Script } from 'node:vm'
import { codeName, showFilesOfAuthor } from './stacks.js'

/** A request as the code expects it. */
export interface HandlerRequest {
  method: string
  path: string
  /** Without a question mark. */
  query: string
  headers: Record<string, string>
  body?: string
}

export interface HandlerResponse {
  status?: number
  headers?: Record<string, string>
  body?: string
}

/** Code that was loaded. */
export interface LoadedCode {
  handle(request: HandlerRequest): Promise<HandlerResponse | undefined>
  /**
   * The code cache of V8, with the functions that it has compiled so far: the code loads faster with it.
   * Undefined if the code was loaded with one, or if it has to be compiled each time.
   */
  compiled(): Buffer | undefined
}

/** Node 20 cannot run `import()` in a script that was loaded with compiled code. */
const dynamicImport = /\bimport\s*(\(|\/\*)/
/** Beginning of the function in which Node wraps a CommonJS module. */
const wrapperStart = '(function (exports, require, module, __filename, __dirname) { '

/**
 * Loads a CommonJS file.
 * @param cachedData what `compiled` returned for the same code; ignored if another version of Node made it
 */
export function loadCode(code: string, cachedData?: Buffer): LoadedCode {
  const isCacheable = !dynamicImport.test(code)
  const script = new Script(`${wrapperStart}${code.replace(/^#!/, '//')}\n})`, {
    filename: codeName,
    columnOffset: -wrapperStart.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && isCacheable && { cachedData }),
  })
  showFilesOfAuthor(() => script.sourceMapURL)
  const { createCachedData } = script
  const module = new Module(codeName)
  module.filename = codeName
  module.paths = []
  const { exports } = module
  const run: (...given: unknown[]) => void = script.runInThisContext()
  run.call(exports, exports, createRequire(codeName), module, codeName, '/')
  const found = module.exports?.default?.handler ? module.exports.default : module.exports
  if (typeof found?.handler !== 'function') {
    throw new Error(
      'The code exports no function named handler, neither itself nor in its default export: deploy what "bp build" makes, one CommonJS file.',
    )
  }
  return {
    handle: (request) => found.handler(request),
    compiled: () =>
      isCacheable && script.cachedDataRejected !== false
        ? createCachedData.call(script)
        : undefined,
  }
}
