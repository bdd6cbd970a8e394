import { expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'
import { rawPage, rawText } from '../pdf.js'

/** Draws text of which a part has properties. */
function marked(properties: string, drawing: string): string {
  return `/Span ${properties} BDC\n${drawing}EMC\n`
}

async function textOf(content: Buffer): Promise<string> {
  return (await blocksOf('a.pdf', content)).join('\n')
}

test.each([
  ['as a string', '<</ActualText(Fire exit)>>', 'Fire exit'],
  ['in UTF-16', '<</ActualText<FEFF00C4007500DF0065006E>>>', 'Äußen'],
  ['in UTF-8', '<</ActualText(\\357\\273\\277\\303\\204u\\303\\237en)>>', 'Äußen'],
  ['with escapes', '<</ActualText(a \\(b\\) \\\\ c\\\nd \\341)>>', 'a (b) \\ cd á'],
  ['of an object', '<</ActualText 7 0 R>>', 'From an object'],
  ['by the name of a list', '/P0', 'From a list'],
])('glyphs are read as the text that stands for them: %s', async (_, properties, expected) => {
  const content = rawPage(
    rawText(72, 700, 'See the') +
      marked(properties, rawText(120, 700, 'XQ')) +
      rawText(150, 700, 'on the left.'),
    {
      resources: '/Properties<</P0 6 0 R>>',
      more: ['<</ActualText(From a list)>>', '(From an object)'],
    },
  )
  expect(await textOf(content)).toBe(`See the ${expected} on the left.`)
})

test('a hyphen at the end of a line without text joins its word, and an initial its rest', async () => {
  const content = rawPage(
    marked(
      '<</ActualText(Once)>>',
      rawText(72, 670, 'O', { size: 40 }) + rawText(105, 700, 'nce'),
    ) +
      `BT /F1 12 Tf 130 700 Td (the inspector opens the dis) Tj\n/Span <</ActualText()>> BDC (-) Tj EMC ET\n` +
      rawText(105, 686, 'charge valve, the pump stops for'),
  )
  expect(await textOf(content)).toBe(
    'Once the inspector opens the discharge valve, the pump stops for',
  )
})

test('the text of an element of the structure is read instead of all of its contents', async () => {
  const content = rawPage(
    `/Span <</MCID 0>> BDC\n${rawText(72, 700, 'W')}EMC\n/Span <</MCID 1>> BDC\n${rawText(90, 700, 'T')}EMC\n` +
      `/P <</MCID 2>> BDC\n${rawText(120, 700, 'is the door.')}EMC\n`,
    {
      page: '/StructParents 0',
      catalog: '/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R',
      more: [
        '<</Type/StructTreeRoot/K[7 0 R 8 0 R]/ParentTree<</Nums[0[7 0 R 7 0 R 8 0 R]]>>>>',
        '<</Type/StructElem/S/Span/P 6 0 R/ActualText(Watertight)/Pg 3 0 R/K[0 1]>>',
        '<</Type/StructElem/S/P/P 6 0 R/Pg 3 0 R/K[2]>>',
      ],
    },
  )
  expect(await textOf(content)).toBe('Watertight is the door.')
})

test.each([
  ['ActualText', 'a picture', 'q 10 0 0 10 110 698 cm /Im Do Q\n'],
  ['ActualText', 'a picture in a form', 'q 1 0 0 1 110 698 cm /Fm Do Q\n'],
  ['ActualText', 'a shape', '110 698 10 10 re f\n'],
  ['Alt', 'a picture', 'q 10 0 0 10 110 698 cm /Im Do Q\n'],
])('the %s of %s is read where it is', async (key, _, drawing) => {
  const content = rawPage(
    rawText(72, 700, 'Press') +
      marked(`<</${key}(the bell)>>`, drawing) +
      rawText(125, 700, 'for help.') +
      rawText(72, 650, 'Below it.'),
    {
      resources: '/XObject<</Im 6 0 R/Fm 7 0 R>>',
      more: [
        [
          '/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8',
          'x',
        ],
        [
          '/Type/XObject/Subtype/Form/BBox[0 0 10 10]/Resources<</XObject<</Im 6 0 R>>>>',
          'q 10 0 0 10 0 0 cm /Im Do Q',
        ],
      ],
    },
  )
  expect(await textOf(content)).toContain('Press the bell for help.')
})

test('an abbreviation is read with its long form, and marks in forms keep their order', async () => {
  const content = rawPage(
    `/Fm Do\n/Fm Do\n${marked('<</E(World Health Organization)>>', rawText(72, 700, 'WHO'))}${rawText(110, 700, 'agrees.')}`,
    {
      resources: '/XObject<</Fm 6 0 R>>',
      more: [
        [
          '/Type/XObject/Subtype/Form/BBox[0 0 600 900]/Resources<</Font<</F1 5 0 R>>>>',
          `/Span <</Lang(en)>> BDC EMC\n${marked('<</ActualText(Approved)>>', rawText(72, 750, 'Q'))}`,
        ],
      ],
    },
  )
  const text = await textOf(content)
  expect(text).toContain('Approved')
  expect(text).toContain('WHO (World Health Organization) agrees.')
})

test('thousands of marks in each other, and a text of megabytes, end soon', async () => {
  const deep = 20_000
  const nested = `${'/Span <</ActualText(Outermost)>> BDC\n'.repeat(deep)}${rawText(72, 700, 'Q')}${'EMC\n'.repeat(deep)}`
  expect(await textOf(rawPage(nested))).toBe('Outermost')
  const long = `Begin ${'x'.repeat(3_000_000)}`
  const content = rawPage(
    rawText(72, 720, 'A page.') + marked('/P0', rawText(72, 700, 'Q')).repeat(50),
    { resources: '/Properties<</P0 6 0 R>>', more: [`<</ActualText(${'y'.repeat(200_000)})>>`] },
  )
  const { omissions } = await readFile('a.pdf', content)
  expect(omissions).toEqual([
    { kind: 'text_cut', count: 50, places: [{ page: 1 }], detail: 'replacement text' },
  ])
  expect(await textOf(rawPage(marked(`<</ActualText(${long})>>`, rawText(72, 700, 'Q'))))).toMatch(
    /^Begin x{1000}/,
  )
})
