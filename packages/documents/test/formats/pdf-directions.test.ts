import { describe, expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'
import { pdf, rawPage, rawText, sentences } from '../pdf.js'

const directions = {
  up: '0 1 -1 0',
  down: '0 -1 1 0',
  slanted: '0.7071 0.7071 -0.7071 0.7071',
}

const rows = [
  ['Pump A', '3.1', '20', '65'],
  ['Pump B', '4.7', '35', '70'],
  ['Pump C', '5.2', '40', '75'],
]

function drawRows(): string {
  return rows
    .flatMap((row, y) => row.map((cell, x) => rawText(100 + 100 * x, 580 - 20 * y, cell)))
    .join('')
}

describe('names of columns that are rotated are the header of their table', () => {
  const intro = rawText(72, 780, 'Data of the pumps, measured at the factory in Ulm last year.')
  const body = rows.map((row) => `| ${row.join(' | ')} |`).join('\n')

  test.each([
    ['upwards', directions.up, 610, ['Inlet pressure', 'Flow rate', 'Temperature']],
    ['slanted', directions.slanted, 610, ['Inlet pressure', 'Flow rate', 'Temperature']],
    [
      'downwards, ending at one height',
      directions.down,
      660,
      ['Pressure', 'Flow rate', 'Duration'],
    ],
  ])('%s', async (_, matrix, y, names) => {
    const headers = names.map((name, at) => rawText(210 + 100 * at, y, name, { matrix })).join('')
    const blocks = await blocksOf('a.pdf', rawPage(intro + headers + drawRows()))
    expect(blocks[1]).toBe(`|  | ${names.join(' | ')} |\n| --- | --- | --- | --- |\n${body}`)
  })

  test('of two lines, beside a name that is not rotated', async () => {
    const names = [
      ['Inlet', 'pressure'],
      ['Flow', 'rate'],
      ['Oil', 'temperature'],
    ].flatMap((lines, at) =>
      lines.map((line, row) =>
        rawText(205 + 100 * at + 14 * row, 610, line, { matrix: directions.up }),
      ),
    )
    const first = rawText(100, 612, 'Name')
    const content = rawPage(intro + first + names.join('') + drawRows())
    expect((await blocksOf('a.pdf', content))[1]).toBe(
      `| Name | Inlet pressure | Flow rate | Oil temperature |\n| --- | --- | --- | --- |\n${body}`,
    )
  })
})

describe('each direction is read by itself', () => {
  const sideways = [
    ['Interval', 'Work'],
    ['7500 miles', 'Change the oil'],
    ['15000 miles', 'Inspect the brakes'],
  ]
  const expected =
    '| Interval | Work |\n| --- | --- |\n| 7500 miles | Change the oil |\n| 15000 miles | Inspect the brakes |'
  const text =
    rawText(72, 740, 'Scheduled maintenance of the vehicle is done by the dealer, as the table') +
    rawText(72, 724, 'beside it says. Keep the invoices of all work for the warranty.')

  test.each([
    ['upwards', (row: number, x: number) => [300 + 20 * row, 150 + 120 * x], directions.up],
    ['downwards', (row: number, x: number) => [300 - 20 * row, 500 - 120 * x], directions.down],
    ['upside down', (row: number, x: number) => [500 - 120 * x, 200 + 20 * row], '-1 0 0 -1'],
  ])('a table %s beside text', async (_, place, matrix) => {
    const cells = sideways.flatMap((row, at) =>
      row.map((cell, x) => {
        const [left = 0, bottom = 0] = place(at, x)
        return rawText(left, bottom, cell, { matrix })
      }),
    )
    const blocks = await blocksOf('a.pdf', rawPage(text + cells.join('')))
    expect(blocks).toEqual([
      'Scheduled maintenance of the vehicle is done by the dealer, as the table beside it says. Keep the invoices of all work for the warranty.',
      expected,
    ])
  })

  test.each([0, 90, 180, 270])('on a page that is turned by %i degrees', async (turned) => {
    const cells = sideways.flatMap((row, at) =>
      row.map((cell, x) => rawText(300 + 20 * at, 150 + 120 * x, cell, { matrix: directions.up })),
    )
    const content = rawPage(text + cells.join(''), { page: `/Rotate ${turned}` })
    expect((await blocksOf('a.pdf', content))[1]).toBe(expected)
  })

  test('a label at the edge breaks no sentence and is no heading of what follows', async () => {
    const content = await pdf((document) => {
      document
        .font('Helvetica')
        .fontSize(11)
        .text('The valve is closed by hand when the pressure falls and then', 60, 700)
      document
        .font('Helvetica-Bold')
        .rotate(-90, { origin: [30, 500] })
        .text('Print no. 17', 30, 500, { lineBreak: false })
      document.addPage().font('Helvetica').text('opened again after an hour.', 60, 60)
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'The valve is closed by hand when the pressure falls and then opened again after an hour.',
      'Print no. 17',
    ])
  })

  test('a running label at the edge of all pages is left out like a header', async () => {
    const content = await pdf((document) => {
      for (let page = 1; page <= 4; page += 1) {
        if (page > 1) document.addPage()
        document.fontSize(11).text(sentences(`page ${page}`, 6), 60, 60)
        document.save().rotate(-90, { origin: [30, 500] })
        document.text(`Station handbook ${page}`, 30, 500, { lineBreak: false }).restore()
      }
    })
    expect((await blocksOf('a.pdf', content)).join('\n')).not.toContain('Station handbook')
  })

  test('vertical writing is read from the top, and its lines from the right', async () => {
    const lines = ['本日は晴天なり', '明日は雨が降る', '明後日は雪']
    const hex = (line: string) =>
      [...line].map((sign) => sign.charCodeAt(0).toString(16).padStart(4, '0')).join('')
    const drawn = lines
      .map((line, at) => `BT /F2 12 Tf 1 0 0 1 ${500 - 20 * at} 700 Tm <${hex(line)}> Tj ET\n`)
      .join('')
    const content = rawPage(drawn, {
      fonts: '/F2 6 0 R',
      more: [
        '<</Type/Font/Subtype/Type0/BaseFont/Mincho/Encoding/Identity-V/DescendantFonts[7 0 R]/ToUnicode 9 0 R>>',
        '<</Type/Font/Subtype/CIDFontType2/BaseFont/Mincho/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor 8 0 R/DW 1000>>',
        '<</Type/FontDescriptor/FontName/Mincho/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 700/StemV 80>>',
        [
          '',
          'begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap',
        ],
      ],
    })
    const all = (await blocksOf('a.pdf', content)).join('\n').replace(/\s/g, '')
    expect(all).toBe(lines.join(''))
  })
})

describe('a watermark is left out and told', () => {
  const draw = (document: PDFKit.PDFDocument, text: string, size: number) => {
    document
      .save()
      .rotate(-45, { origin: [300, 400] })
      .fontSize(size)
    document.text(text, 150, 400, { lineBreak: false }).restore()
  }

  test('on the pages on which it is', async () => {
    const content = await pdf((document) => {
      for (let page = 1; page <= 4; page += 1) {
        if (page > 1) document.addPage()
        if (page !== 2) draw(document, 'CONFIDENTIAL', 60)
        document.fontSize(11).text(sentences(`page ${page}`, 6), 60, 60)
      }
    })
    const { omissions } = await readFile('a.pdf', content)
    expect((await blocksOf('a.pdf', content)).join('\n')).not.toContain('CONFIDENTIAL')
    expect(omissions).toEqual([
      {
        kind: 'other_direction',
        count: 3,
        places: [{ page: 1 }, { page: 3 }, { page: 4 }],
        detail: 'CONFIDENTIAL',
      },
    ])
  })

  test('but a slanted text of usual size is read', async () => {
    const content = await pdf((document) => {
      draw(document, 'valid until noon', 11)
      document.fontSize(11).text(sentences('the page', 6), 60, 60)
    })
    expect((await blocksOf('a.pdf', content)).at(-1)).toBe('valid until noon')
    expect((await readFile('a.pdf', content)).omissions).toEqual([])
  })
})
