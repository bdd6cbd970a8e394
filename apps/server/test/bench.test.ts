import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

it('the benchmarks find all modules that they import from the server', async () => {
  const script = "const { parts } = await import('./bench/parts.mjs'); console.log(parts.chat.name)"
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { cwd: root },
  )
  expect(stdout.trim()).not.toBe('')
})
