import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'

/** Files that `test/programs/make-pages.sh` made. */
function made(name: string): Buffer {
  return readFileSync(new URL(`../programs/${name}`, import.meta.url))
}

test.each(['pandoc.html', 'pandoc.epub'])('%s', async (name) => {
  expect(await blocksOf(name, made(name))).toEqual([
    '# Harbours',
    '# Tides',
    String.raw`The gate of H₂O opens 10^6 times. It has a note[1] and a formula $\frac{1}{2}$.`,
    '| Day | Dish |\n| --- | --- |\n| Mon Tue | Soup Bread |',
    '## Words',
    '- Sluice\n  A gate for water.',
    '```\ngate = 1\n  open = 2\n```',
    '1. The note says *more*.',
  ])
  expect((await readFile(name, made(name))).omissions).toEqual([])
})

test.each(['libreoffice.html', 'libreoffice.xhtml'])('%s', async (name) => {
  const blocks = await blocksOf(name, made(name))
  expect(blocks.join('\n')).toContain('The gate of H₂O opens 10^6 times. It has a note[1] and a')
  expect(blocks.join('\n')).toContain('A gate for water.')
  expect(blocks.join('\n')).toMatch(/Mon .*Tue \| Soup Bread \|/)
})

test('libreoffice.epub', async () => {
  const blocks = await blocksOf('a.epub', made('libreoffice.epub'))
  expect(blocks).toContain('A gate for water.')
  expect(blocks.join('\n')).toContain('It has a note[1] and a')
})
