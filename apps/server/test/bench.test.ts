import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Runs a module beside the benchmarks, and returns what it writes as JSON. */
async function evaluate(script: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', script],
    { cwd: root, env: { ...process.env, ...env } },
  )
  return JSON.parse(stdout)
}

it('the benchmarks find all modules that they import from the server', async () => {
  const script = `
    const { parts } = await import('./bench/parts.mjs')
    console.log(JSON.stringify(Object.keys(parts)))
  `
  expect(await evaluate(script)).toContain('chat')
})

it('every retriever of a search can be measured', async () => {
  const script = `
    const { startCollection } = await import('./bench/collection.mjs')
    const { retrieversOf } = await import('./bench/search-retrievers.mjs')
    const { openSqliteReads } = await import('./apps/server/dist/platform/db/sqlite-driver.js')
    const { server, file, botId, words } = await startCollection(process.env.FOLDER, 20)
    const reads = await openSqliteReads(file)
    const found = {}
    const query = words.text(8)
    for (const [name, search] of Object.entries(retrieversOf(reads, botId))) {
      found[name] = await search(query) !== undefined
    }
    reads.close()
    await server.stop()
    console.log(JSON.stringify(found))
  `
  const folder = await mkdtemp(join(tmpdir(), 'botstead-bench-'))
  try {
    expect(await evaluate(script, { FOLDER: folder })).toMatchObject({
      words: true,
      letters: true,
      'all three': true,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
