// Fills the code blocks of guides from files that tests run, and finds blocks that no test runs. Each block of the
// languages below follows one of these lines:
//
//   <!-- from path#region -->             the lines between "#region region" and "#endregion" of the file; several
//                                         parts of that name are joined. "with A=B" at the end replaces A by B
//   <!-- run by path/of/a.test.ts -->     a test reads the block from the document and runs it
//
// or is in the list of those that cannot run.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const languages = new Set(['cjs', 'html', 'js', 'jsx', 'mjs', 'ts', 'tsx'])

/** Tests that run the files of blocks, by the beginning of their paths. */
const runBy = {
  'apps/server/test/guides/': 'apps/server/test/journeys/guide-snippets.test.ts',
  'apps/server/test/processes/sdk-order-bot.mjs': 'apps/server/test/journeys/sdk-guide.test.ts',
  'apps/server/test/projects/messenger-bot/':
    'apps/server/test/journeys/integrations-guide.long.test.ts',
  'examples/order-bot/bot.mjs': 'apps/server/test/journeys/sdk-guide.test.ts',
  'examples/order-bot/main.mjs': 'apps/server/test/journeys/example-bots.long.test.ts',
  'examples/production-bot.mjs': 'apps/server/test/journeys/example-bots.long.test.ts',
  'examples/react-webchat/': 'apps/server/test/journeys/react-webchat.test.ts',
  'examples/web-page/': 'apps/server/test/webchat/script.test.ts',
}

/** Blocks that no test can run, by their first line, with the reason. */
const unrun = []

/**
 * Writes the blocks of all guides, or only compares them.
 * @param root folder of the checkout
 * @returns what is wrong, one line each
 */
export async function writeSnippets(root, { check }) {
  const guides = await readdir(join(root, 'docs/guides')).catch(() => [])
  const paths = guides.filter((name) => name.endsWith('.md')).map((name) => `docs/guides/${name}`)
  const faults = []
  for (const path of ['README.md', ...paths.sort()]) {
    const before = await readFile(join(root, path), 'utf8')
    const { text, faults: found } = await fill(root, path, before)
    faults.push(...found)
    if (text === before) continue
    if (check)
      faults.push(`${path} differs from its sources: run "npm run docs" and commit the result`)
    else await writeFile(join(root, path), text)
  }
  return faults
}

async function fill(root, path, before) {
  const lines = before.split('\n')
  const written = []
  const faults = []
  const excused = new Set()
  for (let at = 0; at < lines.length; at++) {
    const [, indent, language] = /^( *)```(\w*)/.exec(lines[at]) ?? []
    written.push(lines[at])
    if (language === undefined) continue
    const end = lines.findIndex((line, index) => index > at && line === `${indent}\`\`\``)
    if (end < 0) {
      faults.push(`${path}:${at + 1} has a block that does not end`)
      break
    }
    const block = lines.slice(at + 1, end)
    const filled = languages.has(language)
      ? await codeOf({ root, path, marker: markerAbove(written), block, indent, excused })
      : { block }
    if (filled.fault) faults.push(`${path}:${at + 1} ${filled.fault}`)
    written.push(...(filled.block ?? block), lines[end])
    at = end
  }
  for (const entry of unrun) {
    if (entry.path !== path || excused.has(entry)) continue
    faults.push(
      `${path} has no block "${entry.begins}" any more: remove it from scripts/snippets.mjs`,
    )
  }
  return { text: written.join('\n'), faults }
}

/** The comment before the fence that was written last. */
function markerAbove(written) {
  const above = written.slice(0, -1).findLast((line) => line.trim() !== '') ?? ''
  return /^ *<!-- (from|run by) (.+?) -->$/.exec(above)?.slice(1) ?? []
}

async function codeOf({ root, path, marker: [kind, what], block, indent, excused }) {
  if (kind === 'from') return await codeFrom(root, what, indent)
  if (kind === 'run by') {
    const test = await readFile(join(root, what), 'utf8').catch(() => '')
    return test.includes(`'${path}'`) ? { block } : { fault: `is not read by ${what}` }
  }
  const entry = unrun.find((each) => each.path === path && each.begins === block[0]?.trim())
  if (entry === undefined) return { fault: 'is run by no test: scripts/snippets.mjs says how' }
  excused.add(entry)
  return { block }
}

async function codeFrom(root, what, indent) {
  const [place, replaced] = what.split(' with ')
  const [file, region] = place.split('#')
  const test = Object.entries(runBy).find(([beginning]) => file.startsWith(beginning))?.[1]
  if (test === undefined)
    return { fault: `is from ${file}, and scripts/snippets.mjs names no test of it` }
  const [source, tested] = await Promise.all(
    [file, test].map((each) => readFile(join(root, each), 'utf8').catch(() => undefined)),
  )
  if (source === undefined) return { fault: `is from ${file}, which does not exist` }
  if (tested === undefined) return { fault: `is from ${file}, whose test ${test} does not exist` }
  const parts = regionsOf(source, region)
  if (parts.length === 0) return { fault: `is from ${file}, which has no region "${region}"` }
  const code = parts.join('\n\n')
  return {
    block: replace(code, replaced)
      .split('\n')
      .map((line) => (line === '' ? '' : indent + line)),
  }
}

/** The parts of a source that have a name, without the indentation that all of their lines have. */
function regionsOf(source, name) {
  const parts = []
  let open
  for (const line of source.split('\n')) {
    const [, mark, region] = /#(region|endregion)\b ?([\w-]*)/.exec(line) ?? []
    if (mark === 'region' && region === name) open = []
    else if (mark === 'endregion' && open) {
      parts.push(dedent(open))
      open = undefined
    } else if (mark === undefined && !line.includes('biome-ignore')) open?.push(line)
  }
  return parts
}

function dedent(lines) {
  const widths = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const width = Math.min(...widths)
  const text = lines.map((line) => line.slice(width)).join('\n')
  return text.replace(/^\n+|\n+$/g, '')
}

function replace(code, replaced) {
  if (replaced === undefined) return code
  const [from, ...to] = replaced.split('=')
  return code.replaceAll(from, to.join('='))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root = '.', option] = process.argv.slice(2)
  const faults = await writeSnippets(root, { check: option === '--check' })
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}
