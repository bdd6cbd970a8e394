import { expect, test } from 'vitest'
import { defaultChunkOptions } from '../../src/chunking/passage.js'
import { readDocument } from '../../src/read-document.js'
import { readFile } from '../outline.js'
import { rawPage, rawPdf, rawText } from '../pdf.js'

/** A picture of 100 times 80 pixels; nobody decodes it. */
const picture = (more = '', size = '/Width 100/Height 80'): [string, string] => [
  `/Type/XObject/Subtype/Image${size}/ColorSpace/DeviceGray/BitsPerComponent 8${more}`,
  'x',
]
const few = picture('', '/Width 4/Height 4')
const form: [string, string] = [
  '/Type/XObject/Subtype/Form/BBox[0 0 300 200]/Matrix[1 0 0 1 72 300]/Resources<</XObject<</Im 6 0 R>>>>',
  'q 300 0 0 200 0 0 cm /Im Do Q',
]
const place = (width: number, height: number, x = 72, y = 300, name = 'Im') =>
  `q ${width} 0 0 ${height} ${x} ${y} cm /${name} Do Q\n`
const inline = (data: string, size = '/W 100/H 80') =>
  `q 300 0 0 200 72 300 cm BI ${size}/CS/G/BPC 8 ID ${data}\nEI Q\n`

/** Lines of text that begin at a height. */
const prose = (top = 780, lines = 12) =>
  Array.from({ length: lines }, (_, at) =>
    rawText(72, top - 14 * at, `Line ${at + 1} of the text says that the pressure is measured.`),
  ).join('')

const pageOf = (drawing: string) =>
  rawPage(prose() + drawing, {
    resources: '/XObject<</Im 6 0 R/Few 7 0 R/Fm 8 0 R>>',
    more: [picture(), few, form],
  })

async function picturesIn(content: Buffer): Promise<number> {
  const { omissions = [] } = await readFile('a.pdf', content)
  expect(omissions.filter(({ kind }) => kind !== 'picture_without_text')).toEqual([])
  return omissions[0]?.count ?? 0
}

const strips = Array.from({ length: 10 }, (_, at) => place(300, 20, 72, 300 + 20 * at)).join('')

test.each([
  ['a picture', 1, place(300, 200)],
  ['two pictures', 2, place(200, 150, 72, 60) + inline('x')],
  ['a picture in strips', 1, strips],
  ['a picture within the drawing', 1, inline('x EI y Q 1 0 0')],
  ['a picture in a form', 1, '/Fm Do\n'],
  ['a turned picture', 1, 'q 0 200 -300 0 400 300 cm /Im Do Q\n'],
  ['the same picture twice', 1, place(200, 150, 72, 100) + place(200, 150, 72, 300)],
  ['a logo', 0, place(90, 60)],
  ['a line', 0, place(450, 10)],
  ['a thin strip at the side', 0, place(20, 700, 20, 60)],
  ['a background of few pixels', 0, place(300, 200, 72, 300, 'Few')],
  ['a background within the drawing', 0, inline('x', '/W 2/H 2')],
  ['a background of the whole page', 0, place(595, 842, 0, 0)],
  ['a background of a paragraph', 0, place(450, 200, 60, 600)],
  ['a background with a picture on it', 1, place(595, 842, 0, 0) + place(300, 200)],
  ['decoration', 0, `/Artifact BMC\n${place(300, 200)}EMC\n`],
  ['a described picture', 0, `/Figure <</Alt(The pump)>> BDC\n${place(300, 200)}EMC\n`],
])('of a page of text with %s, the report counts %i', async (_, count, drawing) => {
  expect(await picturesIn(pageOf(drawing))).toBe(count)
})

/** A PDF of pages with these drawings, whose pictures are `/I0` to `/I9`. */
function pages(drawings: readonly string[]): Buffer {
  const names = Array.from({ length: 10 }, (_, at) => `/I${at} ${4 + at} 0 R`).join('')
  const kids = drawings.map((_, at) => `${14 + 2 * at} 0 R`).join(' ')
  return rawPdf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${drawings.length}/Resources<</Font<</F1 3 0 R>>/XObject<<${names}>>>>/MediaBox[0 0 595 842]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    ...Array.from({ length: 10 }, () => picture()),
    ...drawings.flatMap((drawing, at): (string | [string, string])[] => [
      `<</Type/Page/Parent 2 0 R/Contents ${15 + 2 * at} 0 R>>`,
      ['', drawing],
    ]),
  ])
}

test('pictures are told with their pages, one that is on several pages once', async () => {
  const content = pages([
    prose() + place(300, 200, 72, 300, 'I0'),
    prose() + place(300, 200, 72, 300, 'I0'),
    prose() + place(300, 200, 72, 350, 'I1') + place(300, 200, 72, 60, 'I2'),
  ])
  expect((await readFile('a.pdf', content)).omissions).toEqual([
    { kind: 'picture_without_text', count: 3, places: [{ page: 1 }, { page: 3 }] },
  ])
})

const stamp = (at: number) =>
  rawText(
    40,
    815,
    `Envelope 7f0c2a4e-5b1d-4c53-9a34-77c1d2b8${at}aaa, signed and sealed by the exchange`,
    {
      size: 8,
    },
  ) +
  rawText(40, 20, `Downloaded from the archive of the harbour on 2024-03-15, copy ${at} of 9`, {
    size: 8,
  })
const scan = (at: number) => place(595, 842, 0, 0, `I${at}`) + stamp(at)

test('pages that are pictures with lines of a program at their edges are scanned, and not read', async () => {
  const some = await readFile('a.pdf', pages([prose(), scan(1), prose(), scan(2)]))
  expect(some.omissions).toEqual([
    { kind: 'scanned_page', count: 2, places: [{ page: 2 }, { page: 4 }] },
  ])
  expect(some.parts).toEqual({ count: 4, unread: 2 })
  const source = { bytes: pages([prose(), scan(1), scan(2)]), contentType: '', key: 'a.pdf' }
  await expect(readDocument(source, defaultChunkOptions)).rejects.toMatchObject({
    failure: 'mostly_unread',
    message: expect.stringContaining('2 of 3 pages could not be read (2 scanned pages'),
  })
})

test('a scan under recognised text is read', async () => {
  const visible = pages([
    prose() + place(595, 842, 0, 0, 'I0'),
    place(595, 842, 0, 0, 'I1') + prose(),
  ])
  expect((await readFile('a.pdf', visible)).omissions).toEqual([])
  const short = `BT 3 Tr /F1 12 Tf 72 400 Td (One line of a letter that a text recognition has read.) Tj ET\n`
  const hidden = pages([place(595, 842, 0, 0, 'I0') + stamp(1) + short])
  expect((await readFile('a.pdf', hidden)).omissions).toEqual([])
})
