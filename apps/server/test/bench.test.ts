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

it('every retriever of a search can be measured, and finds the words of a passage', async () => {
  const script = `
    const { createWords, startCollection } = await import('./bench/collection.mjs')
    const { retrieversOf } = await import('./bench/search-retrievers.mjs')
    const { openSqliteReads } = await import('./apps/server/dist/platform/db/sqlite-driver.js')
    const { server, file, botId } = await startCollection(process.env.FOLDER, 20)
    const reads = await openSqliteReads(file)
    // The first passage begins with these.
    const query = createWords(20).text(8)
    const found = {}
    for (const [name, search] of Object.entries(retrieversOf(reads, botId))) {
      // So few passages have no vectors.
      const result = (await search(query)) ?? []
      found[name] = (result.rows ?? result.passages ?? [...result]).length
    }
    reads.close()
    await server.stop()
    console.log(JSON.stringify(found))
  `
  const folder = await mkdtemp(join(tmpdir(), 'botstead-bench-'))
  try {
    const found = (await evaluate(script, { FOLDER: folder })) as Record<string, number>
    for (const retriever of ['FTS5 alone', 'words', 'letters', 'all three']) {
      expect(found[retriever], retriever).toBeGreaterThan(0)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
