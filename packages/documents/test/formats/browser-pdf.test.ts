import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { blocksOf, passagesOf } from '../outline.js'
import { sentences } from '../pdf.js'

const browser = ['chromium-headless-shell', 'chromium', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find(existsSync)

async function print(html: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-print-'))
  try {
    const page = join(folder, 'page.html')
    const file = join(folder, 'page.pdf')
    await writeFile(page, html)
    const options = ['--headless', '--no-sandbox', '--disable-gpu', '--no-pdf-header-footer']
    const paths = [`--user-data-dir=${folder}/profile`, `--print-to-pdf=${file}`, page]
    await promisify(execFile)(browser ?? '', [...options, ...paths])
    return await readFile(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test.skipIf(browser === undefined)(
  'what a browser prints (skipped where there is none) keeps headings, columns, lists and tables',
  async () => {
    const rows = Array.from(
      { length: 60 },
      (_, at) => `<tr><td>P-${at}<td>Seal ring ${at}<td>${at}.90 €`,
    )
    const settings = Array.from({ length: 30 }, (_, at) => {
      return [
        `SETTING_${at}`,
        `Time number ${at} that the pump waits for. ${sentences('it', 1 + (at % 3))}`,
      ]
    })
    const settingRows = settings.map(([name, text]) => `<tr><td><code>${name}</code><td>${text}`)
    const content =
      await print(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Handbook</title>
      <style>.two { columns: 2; text-align: justify; hyphens: auto } td { padding-right: 2em }</style>
      <h1>Handbook of the station</h1><p>It is for <b>trained</b> staff.</p>
      <h2>1. Daily round</h2><ol><li>Look at the gauge.<li>Close the door.</ol>
      <h2>2. Background</h2><div class="two"><p>${sentences('responsibilities', 30)}</p></div>
      <h2>3. Prices</h2><table><tr><th>Code<th>Name<th>Price${rows.join('')}</table>
      <h2>4. Settings</h2><table><thead><tr><th>Name<th>Meaning</thead>${settingRows.join('')}</table>`)
    const blocks = await blocksOf('a.pdf', content)
    expect(blocks.slice(0, 6)).toEqual([
      '# Handbook of the station',
      'It is for trained staff.',
      '## 1. Daily round',
      '1. Look at the gauge.\n2. Close the door.',
      '## 2. Background',
      sentences('responsibilities', 30),
    ])
    const passages = await passagesOf('a.pdf', content)
    const prices = passages.filter(({ content }) => content.includes('| P-'))
    expect(prices.at(-1)?.pageNumber).toBeGreaterThan(1)
    for (const { headings, ownHeadings } of prices) {
      expect([...headings, ...ownHeadings]).toContain('3. Prices')
    }
    const all = passages.map((passage) => passage.content).join('\n')
    for (let at = 0; at < 60; at += 1)
      expect(all).toContain(`| P-${at} | Seal ring ${at} | ${at}.90 € |`)
    // Cells of several lines, with short cells vertically centred beside them.
    for (const [name, text] of settings) expect(all).toContain(`| ${name} | ${text} |`)
    for (const { content: text } of passages.filter((each) => each.content.includes('SETTING_'))) {
      expect(text).toContain('| Name | Meaning |\n')
    }
  },
)
