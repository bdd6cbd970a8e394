import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkout } from './documents.js'

const documents = [
  ...(await markdownIn('.')),
  ...(await markdownIn('docs')),
  ...(await markdownIn('docs/guides')),
  ...(await markdownIn('docs/decisions')),
]

const sources = await readServer()

/** All that the server is made of, as one text. */
async function readServer(): Promise<string> {
  const folder = join(checkout, 'apps/server/src')
  const names = await readdir(folder, { recursive: true })
  const paths = names.filter((name) => /(?<!\.test)\.ts$/.test(name))
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), 'utf8')))
  return texts.join('\n')
}

async function markdownIn(folder: string): Promise<string[]> {
  const names = await readdir(join(checkout, folder))
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name))
}

/** Links of a document to other places of the checkout. */
function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
}

/** Names by which the headings of a document are linked to. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe.each(documents)('%s', (document) => {
  it('has links that lead somewhere', async () => {
    const text = await readFile(join(checkout, document), 'utf8')
    for (const link of linksIn(text)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : join(dirname(document), path)
      const found = await stat(join(checkout, target)).catch(() => undefined)
      expect(found, `${link} leads nowhere`).toBeDefined()
      if (anchor === undefined) continue
      expect(anchorsOf(await readFile(join(checkout, target), 'utf8'))).toContain(anchor)
    }
  })

  it('names settings, metrics and scripts that exist', async () => {
    const text = await readFile(join(checkout, document), 'utf8')
    const { scripts } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'))
    for (const [, script = ''] of text.matchAll(/npm run (?:-s )?([a-z:-]+)/g)) {
      expect(Object.keys(scripts)).toContain(script)
    }
    const named = [
      ...text.matchAll(/\bBOTSTEAD_(?!TEST_|TESTS\b)[A-Z0-9_]*[A-Z0-9]\b/g),
      ...text.matchAll(/\bbotstead_[a-z0-9_]*?[a-z0-9](?=(_bucket|_sum|_count)?\b)/g),
    ]
    for (const [name] of named) {
      expect(sources.includes(`'${name}'`), `${name} is unknown`).toBe(true)
    }
  })
})

it('the list of decisions has each record, with its number and heading, and each has a status', async () => {
  const folder = join(checkout, 'docs/decisions')
  const records = (await readdir(folder)).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort()
  const expected = await Promise.all(
    records.map(async (name) => {
      const [head = '', , status = ''] = (await readFile(join(folder, name), 'utf8')).split('\n', 3)
      expect(status, name).toMatch(/^Status: (accepted|superseded)/)
      const [, number, heading] = /^# (\d+)\. (.*)$/.exec(head) ?? []
      expect(Number(number), name).toBe(Number(name.slice(0, 4)))
      return `| ${number} | [${heading}](${name}) |`
    }),
  )
  const list = await readFile(join(folder, 'README.md'), 'utf8')
  const rows = list.split('\n').filter((line) => /^\| \d/.test(line))
  expect(rows.map((row) => row.slice(0, row.indexOf(') |') + 3))).toEqual(expected)
})

it('the guide to troubleshooting explains lines that the log has', async () => {
  const text = await readFile(join(checkout, 'docs/guides/troubleshooting.md'), 'utf8')
  const chapter = text.split('\n## ').find((part) => part.startsWith('The log')) ?? ''
  const lines = [...chapter.matchAll(/^\| `([^`]+)`/gm)].map(([, line = '']) => line)
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) expect(sources.includes(line), `nothing logs: ${line}`).toBe(true)
})
