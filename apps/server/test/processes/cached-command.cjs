// Runs the bundled command with the code that V8 compiled in an earlier process: half of a start is
// compiling. The first process leaves that code for those after it when it gets a signal.
const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { constants, Script } = require('node:vm')

const file = join(__dirname, 'command.cjs')
const cache = `${file}.cache`
const known = existsSync(cache) ? readFileSync(cache) : undefined
const parameters = 'exports, require, module, __filename, __dirname'
const script = new Script(`(function (${parameters}) {${readFileSync(file, 'utf8')}\n})`, {
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
