import { expect, test } from 'vitest'
import { layOut } from './text.js'

test('a paragraph is wrapped as a whole, whatever its line breaks', () => {
  const markdown =
    'The pump moves water from one place to another one, and back again when\nit is told to. Look at the gauge before you\nopen it.'
  expect(layOut(markdown, 40)).toEqual([
    'The pump moves water from one place to',
    'another one, and back again when it is',
    'told to. Look at the gauge before you',
    'open it.',
  ])
})

test.each([
  ['short lines', 'Pump Street 1\nLondon'],
  ['items', `- ${'a '.repeat(40).trim()}\n- b`],
  ['a text after a heading', `# ${'a '.repeat(40).trim()}\ntext`],
  ['rows of a table', `| ${'a '.repeat(40)}|\n| b |`],
  ['code', `\`\`\`\n${'a '.repeat(40).trim()}\nb\n\`\`\``],
  ['a line that its author ended', `${'a '.repeat(40)} \nb`],
  ['paragraphs', `${'a '.repeat(40).trim()}\n\nb`],
])('%s keep their lines', (_, markdown) => {
  const lines = markdown.split('\n').map((line) => line.trimEnd())
  expect(layOut(markdown, 200)).toEqual(lines.filter((line) => line !== ''))
})
