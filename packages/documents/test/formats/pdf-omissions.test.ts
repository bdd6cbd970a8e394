import { expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'
import { pdf, rawPage, rawPdf, rawText, sentences } from '../pdf.js'

/** A picture over the whole page. */
const scan = 'q 595 0 0 842 0 0 cm /Im Do Q\n'
const picture: [string, string] = [
  '/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8',
  'x',
]

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('scanned pages among others are told, and counted as not read', async () => {
  const content = await pdf((document) => {
    document.fontSize(11).text(sentences('page 1', 6))
    document.addPage().image(pixel, 0, 0, { width: 595, height: 842 })
    document.addPage().text(sentences('page 3', 6))
    document.addPage().image(pixel, 0, 0, { width: 595, height: 842 })
    document.fontSize(8).text('Received 4711', 400, 760)
    document.addPage().image(pixel, 60, 60, { width: 200, height: 100 })
    document.text('A small picture', 60, 400)
  })
  const { omissions, parts } = await readFile('a.pdf', content)
  expect(omissions).toEqual([
    { kind: 'scanned_page', count: 2, places: [{ page: 2 }, { page: 4 }] },
  ])
  expect(parts).toEqual({ count: 5, unread: 2 })
})

test('a scan in strips is told', async () => {
  const strips = Array.from(
    { length: 8 },
    (_, at) => `q 595 0 0 100 0 ${at * 105} cm /Im Do Q\n`,
  ).join('')
  const content = rawPage(strips + rawText(72, 20, 'No. 4711'), {
    resources: '/XObject<</Im 6 0 R>>',
    more: [picture],
  })
  expect((await readFile('a.pdf', content)).omissions).toEqual([
    { kind: 'scanned_page', count: 1, places: [{ page: 1 }] },
  ])
})

test('invisible text of a text recognition over a picture is read', async () => {
  const hidden = `BT 3 Tr /F1 12 Tf 72 700 Td (${sentences('the scan', 2).slice(0, 90)}) Tj ET\n`
  const content = rawPage(scan + hidden, {
    resources: '/XObject<</Im 6 0 R>>',
    more: [picture],
  })
  const { omissions } = await readFile('a.pdf', content)
  expect(omissions).toEqual([])
  expect((await blocksOf('a.pdf', content)).join('\n')).toContain('the scan says')
})

test.each([
  ['line by line', [[72, 'The pump is checked every week.']]],
  [
    'word by word',
    [
      [72, 'The pump'],
      [122.7, 'is checked'],
      [181.4, 'every week.'],
    ],
  ],
] as const)('invisible text over the same text is read once: %s', async (_, pieces) => {
  const hidden = pieces.map(([x, text]) => `BT 3 Tr /F1 12 Tf ${x} 700.4 Td (${text}) Tj ET\n`)
  const visible = rawText(72, 700, 'The pump is checked every week.')
  expect(await blocksOf('a.pdf', rawPage(visible + hidden.join('')))).toEqual([
    'The pump is checked every week.',
  ])
})

/** A PDF of pages with these contents; the characters of its font `/F2` have no meaning. */
function withUnknownFont(contents: readonly string[]): Buffer {
  const pages = contents.map((_, at) => 5 + at * 2)
  const names = '/x1/x2/x3/x4/x5/x6/x7/x8'
  return rawPdf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${pages.map((page) => `${page} 0 R`).join(' ')}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    `<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[1 0 0 1 0 0]/FirstChar 1/LastChar 8/Widths[1 1 1 1 1 1 1 1]/CharProcs<<>>/Encoding<</Type/Encoding/Differences[1${names}]>>>>`,
    ...contents.flatMap((content, at): (string | [string, string])[] => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents ${6 + at * 2} 0 R/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>`,
      ['', content],
    ]),
  ])
}

test('a page whose font does not define its characters is told and left out', async () => {
  const unknown = rawText(72, 700, '\\001\\002\\003\\004\\005\\006\\007\\010'.repeat(8), {
    font: 'F2',
  })
  const known = rawText(72, 700, `${sentences('the page', 1)} It is read by all.`)
  const content = withUnknownFont([known, unknown, known + rawText(72, 600, 'The end of it.')])
  const { omissions, parts } = await readFile('a.pdf', content)
  expect(omissions).toEqual([{ kind: 'unreadable_font', count: 1, places: [{ page: 2 }] }])
  expect(parts).toEqual({ count: 3, unread: 1 })
  const all = (await blocksOf('a.pdf', content)).join('\n')
  expect(all).toContain('The end of it.')
  expect(all).not.toContain('\u0001')
  await expect(readFile('b.pdf', withUnknownFont([unknown]))).rejects.toMatchObject({
    failure: 'no_text',
    message: expect.stringContaining('fonts do not map'),
  })
})

test('a structure whose elements contain each other a hundred times is read in bounded time', async () => {
  const kids = Array.from({ length: 100 }, (_, at) => `${8 + (at % 2)} 0 R`).join(' ')
  const content = rawPage(rawText(72, 700, 'A page with a broken structure.'), {
    page: '/StructParents 0',
    catalog: '/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R',
    more: [
      '<</Type/StructTreeRoot/K[7 0 R]/ParentTree<</Nums[0[7 0 R]]>>>>',
      `<</Type/StructElem/S/TD/P 6 0 R/A<</O/Table/ColSpan 2>>/Pg 3 0 R/K[0 ${kids}]>>`,
      `<</Type/StructElem/S/P/P 7 0 R/K[${kids}]>>`,
      `<</Type/StructElem/S/P/P 7 0 R/K[${kids}]>>`,
    ],
  })
  expect(await blocksOf('a.pdf', content)).toEqual(['A page with a broken structure.'])
})

test('the picture of a scanned page is told once, also in a tagged document', async () => {
  const content = await pdf(
    (document) => {
      const figure = () => {
        document.image(pixel, 0, 0, { width: 595, height: 841 })
      }
      const words = () => {
        document.fontSize(11).text(sentences('the first page', 6))
      }
      document.addStructure(document.struct('P', {}, words))
      document.addPage()
      document.addStructure(document.struct('Figure', {}, figure))
    },
    { tagged: true, pdfVersion: '1.5' },
  )
  expect((await readFile('a.pdf', content)).omissions).toEqual([
    { kind: 'scanned_page', count: 1, places: [{ page: 2 }] },
  ])
})

test('pictures of a tagged document have their descriptions, and those without are told', async () => {
  const content = await pdf(
    (document) => {
      const figure = (options: { alt?: string }, y: number) =>
        document.struct('Figure', options, () => {
          document.image(pixel, 60, y, { width: 100, height: 50 })
        })
      const text = (words: string, y: number) =>
        document.struct('P', {}, () => {
          document.fontSize(11).text(words, 60, y)
        })
      document.addStructure(text(sentences('the first part', 2), 60))
      document.addStructure(figure({ alt: 'Drawing of the pump with its three valves' }, 120))
      document.addStructure(text(sentences('the second part', 2), 200))
      document.addStructure(figure({}, 260))
    },
    { tagged: true, pdfVersion: '1.5' },
  )
  expect(await blocksOf('a.pdf', content)).toEqual([
    sentences('the first part', 2),
    'Drawing of the pump with its three valves',
    sentences('the second part', 2),
  ])
  expect((await readFile('a.pdf', content)).omissions).toEqual([
    { kind: 'picture_without_text', count: 1, places: [{ page: 1 }] },
  ])
})

test('a layer that is not shown is left out and told', async () => {
  const layered = ['Shown', 'Hidden'].map(
    (name, at) => `/OC /L${at} BDC\n${rawText(72, 700 - 40 * at, `${name} layer`)}EMC\n`,
  )
  const content = rawPage(rawText(72, 740, 'A plan of the station') + layered.join(''), {
    resources: '/Properties<</L0 6 0 R/L1 7 0 R>>',
    catalog: '/OCProperties<</OCGs[6 0 R 7 0 R]/D<</Order[6 0 R 7 0 R]/OFF[7 0 R]>>>>',
    more: ['<</Type/OCG/Name(Shown)>>', '<</Type/OCG/Name(Hidden)>>'],
  })
  const all = (await blocksOf('a.pdf', content)).join('\n')
  expect(all).toContain('Shown layer')
  expect(all).not.toContain('Hidden layer')
  expect((await readFile('a.pdf', content)).omissions).toEqual([
    { kind: 'hidden_text', count: 1, places: [{ page: 1 }] },
  ])
})

test('items of a list keep their numbers', async () => {
  const numbers = [1, 2, 5, 6, 1]
  const content = rawPage(
    numbers.map((number, at) => rawText(72, 700 - 16 * at, `${number}. Item ${at}`)).join(''),
  )
  expect((await blocksOf('a.pdf', content)).join('\n')).toBe(
    numbers.map((number, at) => `${number}. Item ${at}`).join('\n'),
  )
})
