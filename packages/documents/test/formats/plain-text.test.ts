import fc from 'fast-check'
import { expect, test } from 'vitest'
import { extract } from '../../src/formats/plain-text.js'
import { blocksOf, passagesOf } from '../outline.js'

test('blank lines separate paragraphs, everything else stays as written', async () => {
  const text = 'First line\n  indented *second*\n \t\n\n# not a heading\n'
  const source = { bytes: Buffer.from(text), contentType: 'text/plain', key: 'a.txt' }
  expect((await extract(source)).root.children).toMatchObject([
    { type: 'paragraph', children: [{ value: 'First line\n  indented *second*' }] },
    { type: 'paragraph', children: [{ value: '# not a heading' }] },
  ])
})

test('underlined lines and numbered sections are headings, items of a list are not', async () => {
  const text = [
    'The Pump\n========\nVersion 2.',
    'Care\n----',
    'A rule:\n--------------------',
    '  3. Close the valve.\n~~~~~~~~~~~~~~~~~~~~~~\nNext',
    '1. Overview',
    '1.1. Parts of it',
    'There are two.',
    '2.  Close the valve',
    '2.5 litres are needed.',
  ]
  expect(await blocksOf('a.txt', text.join('\n\n'))).toEqual([
    '# The Pump',
    'Version 2.',
    '## Care',
    'A rule:\n--------------------',
    '3. Close the valve.\n~~~~~~~~~~~~~~~~~~~~~~\nNext',
    '# 1. Overview',
    '## 1.1. Parts of it',
    'There are two.',
    '2.  Close the valve',
    '2.5 litres are needed.',
  ])
})

test('text for a printer or a terminal is read without overstrikes and colours', async () => {
  const text = 'N\bNA\bAM\bME\bE\n\n_\bp_\bu_\bm_\bp \u001b[1mwaits\u001b[0m'
  expect(await blocksOf('pump.txt', text)).toEqual(['NAME', 'pump waits'])
})

test('words that are hyphenated at the end of a line are joined, other hyphens stay', async () => {
  const text =
    'A well-known file trans\u2010\n       fer is re\u00ad\n   sumed. It is well\u2010\n   known (for the main\u2010\nte\u2010\nnance).\nUse -\nand --\noption.'
  expect(await blocksOf('a.txt', text)).toEqual([
    'A well-known file transfer\n       is resumed.\n   It is well\u2010known\n   (for the maintenance).\nUse -\nand --\noption.',
  ])
})

const manual = `PUMP(1)                          User Commands                          PUMP(1)

NAME
       pump - moves water

SYNOPSIS
       pump [OPTIONS]...

DESCRIPTION
       The pump moves water from one place to another one.

   Modes of Work
       There are two of them, SLOW and FAST.

OPTIONS
       -v, --verbose
              Tells what it does.

       WARNING
              Do not open it.

SEE ALSO
       valve(1)

Station 2                          May 2026                             PUMP(1)
`

const memo = `Network Working Group                                      A. Author
Request for Comments: 1                                     May 2026

                        Pumps over the Network

Abstract

   A pump moves water from one place to another one, and this document
   says how it is asked to.

1.  Introduction

   The pump is a machine.

1.1.  Words

   1. The first item of a list

   2. The second one

2.  Protocol

2.1.  Messages

   There are two.

Author                       Informational                      [Page 1]
RFC 1                            Pumps                          May 2026

Acknowledgements

   Thanks to all.
`

test('a manual page and an RFC have headings left of their text', async () => {
  const headingsOf = async (text: string) =>
    (await blocksOf('a.txt', text)).filter((block) => block.startsWith('#'))
  expect(await headingsOf(manual)).toEqual([
    '# PUMP(1) User Commands PUMP(1)',
    '## NAME',
    '## SYNOPSIS',
    '## DESCRIPTION',
    '### Modes of Work',
    '## OPTIONS',
    '## SEE ALSO',
  ])
  expect(await headingsOf(memo)).toEqual([
    '# Abstract',
    '# 1. Introduction',
    '## 1.1. Words',
    '# 2. Protocol',
    '## 2.1. Messages',
    '# Acknowledgements',
  ])
  const options = (await passagesOf('pump.1.txt', manual)).find(({ content }) =>
    content.includes('--verbose'),
  )
  expect(options).toMatchObject({
    subtype: 'subtitle',
    headings: ['PUMP(1) User Commands PUMP(1)'],
    ownHeadings: ['OPTIONS'],
  })
})

test('lines in capitals above text are headings', async () => {
  const text =
    'THE PUMP\n\nINSTALLATION\n\nPut it down.\n\nOPERATION\nTurn it on.\n\nTurn it off.\n\nTHE END\n'
  expect(await blocksOf('a.txt', text)).toEqual([
    '# THE PUMP',
    '## INSTALLATION',
    'Put it down.',
    '## OPERATION',
    'Turn it on.',
    'Turn it off.',
    'THE END',
  ])
})

test.each([
  [
    'what is shouted',
    'DO NOT OPEN THE LID\n\nIt is hot.\n\nPLEASE WAIT HERE\n\nWe come.\n\nSTOP IT NOW!\n\nThank you.',
  ],
  ['labels', `${['One.', 'Two.', 'Three.'].map((each) => `SAFETY\n\n${each}\n\n`).join('')}`],
  ['one line alone', 'MAINTENANCE\n\nLook at the gauge.'],
  ['acronyms', 'USB\n\nA plug.\n\nHDMI 2.1\n\nAnother one.\n\nVGA\n\nAn old one.'],
  ['names of columns', 'NAME   STATE\nnorth  on\n\nPART   PRICE\nseal   2\n\nCODE|WEIGHT\na|2'],
  ['names below each other', 'ALPHA\n\nBRAVO\n\nCHARLIE\n\nDELTA'],
  [
    'lines of a log',
    'ERROR CONNECTION LOST\n    at pump\n    at main\n\nWARNING PRESSURE\n    at valve\n\nINFO STARTED\n    on 2026-01-01\n    by me\n    as usual',
  ],
  [
    'code',
    'function start() {\n  open()\n  wait()\n}\n\nclass Pump extends Machine {\n  run() {}\n  stop() {}\n}',
  ],
  ['steps', 'Do this:\n\n1. Close the valve\n\n   It is red.\n\n2. Open it\n\n   With care.'],
])('%s: no headings', async (_, text) => {
  const blocks = await blocksOf('a.txt', text)
  expect(blocks.filter((block) => block.startsWith('#'))).toEqual([])
})

test('nothing of a text is lost, whatever its lines look like', async () => {
  const line = fc.constantFrom(
    '',
    '',
    'NAME',
    'SEE ALSO',
    '1.  Scope',
    '1.1. Parts',
    '2. Close it',
    '=====',
    '-----',
    '  -v, --verbose',
    '      Tells more.',
    'PUMP(1)   Manual   PUMP(1)',
    'Some text.',
    '\tx',
    '   Modes',
    'WARNING',
    '{',
    'A  B',
    '漢字',
    '\f',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      const numbered = lines.map((each, at) => (each.trim() === '' ? each : `${each} w${at}`))
      const text = [...numbered, 'End.'].join('\n')
      const passages = await passagesOf('a.txt', text)
      const words = passages.flatMap(({ content }) => content.replace(/^#+ /gm, '').split(/\s+/))
      expect(words.filter((word) => word !== '')).toEqual(text.split(/\s+/).filter(Boolean))
    }),
    { numRuns: 300 },
  )
})

test('a long text of short paragraphs has passages as long as those of other texts', async () => {
  const options = Array.from(
    { length: 120 },
    (_, at) =>
      `       --option-${at}\n              Sets the pressure of pump ${at} to what is given here.\n\n              The default is ${at}.\n`,
  )
  const text = `NAME\n       pump\n\nOPTIONS\n${options.join('\n')}\nFILES\n       none\n`
  const passages = await passagesOf('a.txt', text)
  const lengths = passages.slice(1, -1).map(({ content }) => content.length)
  expect(Math.min(...lengths)).toBeGreaterThan(500)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(1200)
  for (const { headings, ownHeadings } of passages.slice(1, -1)) {
    expect([...headings, ...ownHeadings]).toEqual(['OPTIONS'])
  }
})
