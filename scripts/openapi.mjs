// Writes docs/openapi.json from the built contract. With --check: writes nothing and fails when the
// file differs, so that no change of the interface goes unseen in a review.
import { readFile, writeFile } from 'node:fs/promises'
import { allOperations, createOpenApi } from '../packages/contract/dist/index.js'

const target = new URL('../docs/openapi.json', import.meta.url)
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
const text = `${JSON.stringify(createOpenApi(allOperations, { version }), null, 2)}\n`

if (process.argv.includes('--check')) {
  const committed = await readFile(target, 'utf8').catch(() => '')
  if (committed !== text) {
    process.stderr.write(
      'docs/openapi.json does not match the contract: run `npm run docs` and commit the result\n',
    )
    process.exitCode = 1
  }
} else {
  await writeFile(target, text)
}
