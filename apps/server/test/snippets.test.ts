import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkout } from './documents.js'

const script = join(checkout, 'scripts/snippets.mjs')
const source = 'apps/server/test/guides/parts.mjs'
const test = 'apps/server/test/journeys/guide-snippets.test.ts'

/** A checkout with these files, besides a README and a test. */
async function makeCheckout(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-snippets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const all = { 'README.md': '', [test]: "readDocument('docs/guides/run.md')", ...files }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

/** The faults that the script prints. */
async function faultsOf(folder: string, option = '--check'): Promise<string[]> {
  const run = promisify(execFile)(process.execPath, [script, folder, option])
  const output = await run.then(
    ({ stderr }) => stderr,
    ({ stderr }: { stderr: string }) => stderr,
  )
  return output.split('\n').filter((line) => line !== '')
}

const block = (marker: string, code = '', language = 'js') =>
  `${marker}\n\n\`\`\`${language}\n${code}\n\`\`\`\n`

describe('the code blocks of guides', () => {
  it.each(['js', 'mjs', 'cjs', 'jsx', 'ts', 'tsx', 'html'])(
    'a block of the language %s has to name what runs it',
    async (language) => {
      const text = `# Guide\n\n${block('Text', 'call()', language)}`
      const folder = await makeCheckout({ 'docs/guides/new.md': text })
      expect(await faultsOf(folder)).toEqual([
        'docs/guides/new.md:5 is run by no test: scripts/snippets.mjs says how',
      ])
    },
  )

  it('blocks of other languages, and inside of other blocks, are left alone', async () => {
    const inside = block('Text', 'cat <<END\n  ```js\nEND', 'sh')
    const folder = await makeCheckout({
      'docs/guides/new.md': inside + block('Text', '{}', 'json'),
    })
    expect(await faultsOf(folder)).toEqual([])
  })

  it('a block is copied from the part of a file, and compared with it', async () => {
    const guide = 'docs/guides/new.md'
    const text = block(`<!-- from ${source}#call with here=there -->`, 'old()')
    const parts = [
      '// #region call',
      "import 'here'",
      '// #endregion',
      'function f() {',
      '  // #region call',
      '  if (x) {',
      '    // biome-ignore lint: why',
      '    here()',
      '  }',
      '  // #endregion',
      '}',
    ].join('\n')
    const folder = await makeCheckout({ [guide]: text, [source]: parts })
    expect(await faultsOf(folder)).toEqual([
      `${guide} differs from its sources: run "npm run docs" and commit the result`,
    ])
    expect(await readFile(join(folder, guide), 'utf8')).toBe(text)
    expect(await faultsOf(folder, '')).toEqual([])
    expect(await readFile(join(folder, guide), 'utf8')).toBe(
      text.replace('old()', "import 'there'\n\nif (x) {\n  there()\n}"),
    )
    expect(await faultsOf(folder)).toEqual([])
  })

  it('the names of parts and tests are checked', async () => {
    const guide = 'docs/guides/new.md'
    for (const [marker, fault] of [
      [`from ${source}#gone`, `is from ${source}, which has no region "gone"`],
      ['from apps/server/test/guides/gone.mjs#a', 'gone.mjs, which does not exist'],
      ['from examples/new.mjs#a', 'scripts/snippets.mjs names no test of it'],
      [`run by ${test}`, `is not read by ${test}`],
      ['run by gone.test.ts', 'is not read by gone.test.ts'],
    ] as const) {
      const files = { [guide]: block(`<!-- ${marker} -->`), [source]: '// #region call\n' }
      const faults = await faultsOf(await makeCheckout(files))
      expect(faults).toEqual([expect.stringContaining(fault)])
    }
    const run = block(`<!-- run by ${test} -->`, 'call()')
    expect(await faultsOf(await makeCheckout({ 'docs/guides/run.md': run }))).toEqual([])
  })

  it('all blocks of this checkout are current, and tests run them', async () => {
    expect(await faultsOf(checkout)).toEqual([])
  })
})
