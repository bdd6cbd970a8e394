// Runs the bundled command with the code that V8 compiled in an earlier process: half of a start is
// compiling. The first process leaves that code for those after it when it gets a signal.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { constants, Script } = require('node:vm')

// `fetch` has its HTTP parser in WebAssembly, which V8 would optimise beside the first request: that
// takes a third of a short command. The option counts for the cache of all code, so it is set back.
const { compile } = WebAssembly
WebAssembly.compile = async (bytes) => {
  const { setFlagsFromString } = require('node:v8')
  setFlagsFromString('--liftoff-only')
  try {
    return await compile(bytes)
  } finally {
    setFlagsFromString('--no-liftoff-only')
  }
}

const file = join(__dirname, 'command.cjs')
const cache = `${file}.cache`
const known = existsSync(cache) ? readFileSync(cache) : undefined
const parameters = 'exports, require, module, __filename, __dirname'
const script = new Script(`(function (${parameters}) {${readFileSync(file, 'latin1')}\n})`, {
  filename: file,
  cachedData: known,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
const module_ = { exports: {} }
script.runInThisContext()(module_.exports, createRequire(file), module_, file, __dirname)

if (known === undefined) {
  process.once('SIGUSR2', () => {
    writeFileSync(cache, script.createCachedData())
    process.exit()
  })
}
