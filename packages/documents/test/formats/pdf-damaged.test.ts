import { expect, test } from 'vitest'
import { defaultChunkOptions } from '../../src/chunking/passage.js'
import { readDocument } from '../../src/read-document.js'
import { blocksOf, readFile } from '../outline.js'
import { rawPage, rawPdf, rawText } from '../pdf.js'

const catalog = '<</Type/Catalog/Pages 2 0 R>>'
const font = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>'
const text = rawText(72, 700, 'A page with some words.')
const page =
  '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>'

test.each([
  ['that is its own child', ['<</Type/Pages/Kids[2 0 R]/Count 1>>']],
  [
    'whose last child is itself',
    ['<</Type/Pages/Kids[3 0 R 2 0 R]/Count 2>>', page, ['', text], font],
  ],
  [
    'of two nodes in each other',
    ['<</Type/Pages/Kids[3 0 R]/Count 9>>', '<</Type/Pages/Kids[2 0 R]/Count 9>>'],
  ],
  ['without a number of pages', ['<</Type/Pages/Kids[2 0 R]>>']],
  ['that claims a million pages', ['<</Type/Pages/Kids[2 0 R]/Count 1000000>>']],
] as [string, (string | [string, string])[]][])(
  'a tree of pages %s is told as what it is',
  async (_, objects) => {
    const source = {
      bytes: rawPdf([catalog, ...objects]),
      contentType: '',
      key: 'a.pdf',
      maxPages: 1000,
    }
    await expect(readDocument(source, defaultChunkOptions)).rejects.toMatchObject({
      failure: 'damaged',
      message: expect.stringContaining('its tree of pages contains itself, or a page twice'),
    })
  },
)

test('a tree of no pages is told as what it is', async () => {
  const content = rawPdf([catalog, '<</Type/Pages/Kids[2 0 R]/Count -1>>'])
  await expect(readFile('a.pdf', content)).rejects.toMatchObject({
    failure: 'damaged',
    message: expect.stringContaining('it has no pages'),
  })
})

const structured = {
  page: '/StructParents 0',
  catalog: '/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R',
}
const content = `/P<</MCID 0>>BDC ${text} EMC`
const form = (resources: string, drawing: string): [string, string] => [
  `/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>/XObject<<${resources}>>>>`,
  drawing,
]
const trailer = (more: string) => {
  const file = rawPage(text).toString('latin1')
  const place = file.lastIndexOf('xref\n0')
  return Buffer.from(
    file.replace('/Root 1 0 R', `/Root 1 0 R ${more.replaceAll('PLACE', `${place}`)}`),
    'latin1',
  )
}

const loops: Record<string, Buffer> = {
  'parents of pages': rawPdf([
    catalog,
    '<</Type/Pages/Kids[3 0 R]/Count 1/Parent 6 0 R>>',
    '<</Type/Page/Parent 2 0 R/Contents 4 0 R>>',
    ['', text],
    font,
    '<</Type/Pages/Parent 2 0 R/Kids[2 0 R]/Count 1>>',
  ]),
  outlines: rawPage(text, {
    catalog: '/Outlines 6 0 R',
    more: [
      '<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>',
      '<</Title(Aa)/Parent 6 0 R/Next 8 0 R/Dest[3 0 R/Fit]>>',
      '<</Title(Bb)/Parent 6 0 R/Next 7 0 R/First 7 0 R/Dest[3 0 R/Fit]>>',
    ],
  }),
  'trees of names': rawPage(text, {
    catalog: '/Names<</Dests 6 0 R/EmbeddedFiles 6 0 R>>/Outlines 7 0 R',
    more: [
      '<</Kids[6 0 R 6 0 R]/Limits[(a)(z)]>>',
      '<</First 8 0 R/Last 8 0 R/Count 1>>',
      '<</Title(A page)/Parent 7 0 R/Dest(hello)>>',
    ],
  }),
  structures: rawPage(content, {
    ...structured,
    more: [
      '<</Type/StructTreeRoot/RoleMap<</P/Q/Q/P>>/K[7 0 R]/ParentTree 9 0 R>>',
      '<</Type/StructElem/S/P/P 8 0 R/ActualText 10 0 R/Pg 3 0 R/K[0 8 0 R]>>',
      '<</Type/StructElem/S/P/P 7 0 R/K[7 0 R 8 0 R]>>',
      '<</Kids[9 0 R 9 0 R]/Limits[0 5]>>',
      '10 0 R',
    ],
  }),
  'lists of marks': rawPage(`/Span /P0 BDC ${text} EMC`, {
    resources: '/Properties 6 0 R/XObject 6 0 R',
    more: ['<</P0 7 0 R>>', '7 0 R'],
  }),
  'drawings in drawings': rawPage(`${text}/Fm Do`, {
    resources: '/XObject<</Fm 6 0 R>>',
    more: [
      form('/Fm 6 0 R/Fn 7 0 R', '/Fm Do /Fn Do /Fn Do /Fn Do'),
      form('/Fm 6 0 R', '/Fm Do /Fm Do /Fm Do'),
    ],
  }),
  'fields and signatures': rawPage(text, {
    catalog: '/AcroForm<</Fields[6 0 R]>>',
    page: '/Annots[6 0 R]',
    more: [
      '<</Type/Annot/Subtype/Widget/FT/Sig/T(name)/Rect[10 10 100 30]/Parent 7 0 R/Kids[7 0 R]>>',
      '<</T(p)/Parent 6 0 R/Kids[6 0 R 7 0 R]>>',
    ],
  }),
  'lengths of streams': Buffer.from(
    rawPage(text)
      .toString('latin1')
      .replace(/\/Length \d+/, '/Length 4 0 R'),
    'latin1',
  ),
  'earlier tables of objects': trailer('/Prev PLACE/XRefStm PLACE'),
}

test.each(Object.entries(loops))('%s that lead back to themselves end soon', async (_, file) => {
  expect((await blocksOf('a.pdf', file)).join('\n')).toContain('A page with some words.')
})

test.each([
  ['at once', 12, 10, 0],
  ['deep inside of each other', 40, 10, 33],
  ['by being inside of each other', 100, 1, 0],
])('drawings that multiply %s are refused, not followed', async (_, levels, times, single) => {
  const forms = Array.from({ length: levels }, (_, at) => {
    const inner = `/F${at + 1} Do `.repeat(at < single ? 1 : times)
    return form(`/F${at + 1} ${7 + at} 0 R`, at === levels - 1 ? text : inner)
  })
  const file = rawPage(`${text}/F0 Do`, { resources: '/XObject<</F0 6 0 R>>', more: forms })
  await expect(readFile('a.pdf', file)).rejects.toMatchObject({
    failure: 'too_large',
    message: expect.stringContaining('Page 1 has more than'),
  })
})
