import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

// Before `npm start`: builds what has changed. An installation without development dependencies cannot build;
// it starts what was built before. With --anew, before `npm run pack:release`, that is not enough.

const built = new URL('../apps/server/dist/main.js', import.meta.url)
const isEnough = !process.argv.includes('--anew') && existsSync(built)

function hasCompiler() {
  try {
    createRequire(import.meta.url).resolve('typescript/package.json')
    return true
  } catch {
    return false
  }
}

if (hasCompiler()) {
  if (!existsSync(built))
    process.stderr.write('Building the checkout, which takes a minute or two.\n')
  const { status } = spawnSync('npm', ['run', '-s', 'build'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  process.exitCode = status ?? 1
} else if (!isEnough) {
  process.stderr.write(
    'What builds this checkout is not installed: run "npm ci" without --omit=dev. To run the server only, install the package that "npm run pack:release -- <folder>" then makes (docs/guides/installation.md).\n',
  )
  process.exitCode = 1
}
