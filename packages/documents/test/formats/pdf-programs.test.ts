import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'

/** Files that `test/programs/make-pdf.sh` made. */
function made(name: string): Buffer {
  return readFileSync(new URL(`../programs/${name}.pdf`, import.meta.url))
}

const pumps = [
  'The data of the pumps, measured at the factory in Ulm.',
  'Inspector: Grace Harbour',
  'Ann: Is this the new pump?',
  '|  | Inlet pressure | Flow rate | Temperature |\n| --- | --- | --- | --- |\n| Pump A | 3.1 | 20 | 65 |\n| Pump B | 4.7 | 35 | 70 |',
  'The lamp makes 10^6 cycles.',
]
const scan = { kind: 'scanned_page', count: 1, places: [{ page: 2 }] }
const prices = { kind: 'embedded_file', count: 1, places: [{ part: 'prices.csv' }] }

test.each([
  ['ghostscript', [scan]],
  ['qpdf', [scan, prices]],
  ['qpdf-encrypted', [scan, prices]],
])('a form with a scan by %s', async (name, omissions) => {
  expect(await blocksOf('a.pdf', made(name))).toEqual(pumps)
  const read = await readFile('a.pdf', made(name))
  expect(read.omissions).toEqual(omissions)
  expect(read.parts).toEqual({ count: 2, unread: 1 })
})

test('a page that poppler drew anew, without its note', async () => {
  expect(await blocksOf('a.pdf', made('poppler'))).toEqual([
    pumps[0],
    'Inspector:',
    pumps[3],
    pumps[4],
  ])
})

test('lists of LibreOffice whose marks are of fonts that it lacks are lists, and other symbols are told', async () => {
  const [text, ...lists] = await blocksOf('a.pdf', made('libreoffice-marks'))
  expect(text).toMatch(/^The angle . is small\. Load:$/u)
  expect(lists.join('\n')).toBe(
    '- the anchor of the ship\n- the buoy of the ship\n- the chain of the ship\n- the davit of the ship\n- ✓ the engine of the ship',
  )
  expect((await readFile('a.pdf', made('libreoffice-marks'))).omissions).toEqual([
    { kind: 'unknown_symbol', count: 1, places: [{ page: 1 }], detail: 'F061' },
  ])
})

test.each(['libreoffice', 'chromium'])(
  'a tagged document by %s has its merged cells, its picture and its numbers',
  async (name) => {
    expect(await blocksOf('a.pdf', made(name))).toEqual([
      '# Pumps of the station',
      'The lamp makes 10^6 cycles. Water is H₂O. It is 40 degrees^1 in the shade.',
      'Drawing of the pump with its three valves',
      '| Pump | Pressure | Pressure |\n| --- | --- | --- |\n| Pump | Inlet | Outlet |\n| North | 3.1 | 4.7 |\n| South | not measured | not measured |',
      '4. Close the valve\n5. Wait for an hour',
    ])
  },
)

test('text that stands for glyphs is read from a document of pdfTeX', async () => {
  expect((await blocksOf('a.pdf', made('pdftex-actual-text'))).join('\n')).toBe(
    'The lid is watertight. It is an icon of a bell. The inspector opens the discharge valve every month. ' +
      'The WHO (World Health Organization) was told.',
  )
})

test('the signer of a document that poppler signed is read, from its certificate too', async () => {
  const { texts } = { texts: await blocksOf('a.pdf', made('poppler-signed')) }
  expect(texts.at(-1)).toMatch(
    /^Signed by: Grace Harbour Reason: The pumps are accepted Date: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
  )
})

test('a document of LibreOffice without tags tells its picture but not its logo, and has the table of its column', async () => {
  const blocks = await blocksOf('a.pdf', made('libreoffice-columns'))
  expect(blocks.filter((block) => block.startsWith('|'))).toEqual([
    '| Pump | Inlet | Outlet |\n| --- | --- | --- |\n| North | 3.1 | 4.7 |\n| South | 3.2 | 4.8 |\n| West | 2.9 | 4.1 |\n| East | 3.3 | 4.9 |',
  ])
  expect(blocks.map((block) => block.split(' ').slice(0, 2).join(' '))).toEqual([
    'The level',
    'The noise',
    'The pressure',
    '| Pump',
    'The flow',
  ])
  expect((await readFile('a.pdf', made('libreoffice-columns'))).omissions).toEqual([
    { kind: 'picture_without_text', count: 1, places: [{ page: 1 }] },
  ])
})
