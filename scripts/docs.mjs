// Writes the generated parts of the documents from the built contract and server. With --check:
// writes nothing and fails when a file differs, so that a review shows every change.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { openApi } from './openapi.mjs'
import { writeSnippets } from './snippets.mjs'
import { tables } from './tables.mjs'

const check = process.argv.includes('--check')

for (const { path, write } of [openApi, ...tables]) {
  const target = new URL(`../${path}`, import.meta.url)
  const committed = await readFile(target, 'utf8').catch(() => '')
  const text = await write(committed)
  if (text === committed) continue
  if (!check) {
    await writeFile(target, text)
    continue
  }
  process.stderr.write(`${path} is out of date: run "npm run docs" and commit the result\n`)
  process.exitCode = 1
}

for (const fault of await writeSnippets(fileURLToPath(new URL('..', import.meta.url)), { check })) {
  process.stderr.write(`${fault}\n`)
  process.exitCode = 1
}
