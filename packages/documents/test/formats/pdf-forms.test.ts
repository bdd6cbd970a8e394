import { describe, expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'
import { pdf, rawPage, rawText } from '../pdf.js'

const font = '/DA(/F1 12 Tf 0 g)'
const form = (fields: string, more = '') =>
  `/AcroForm<</Fields[${fields}]${font}/DR<</Font<</F1 5 0 R>>>>${more}>>`
const drawn = (text: string): [string, string] => [
  '/Type/XObject/Subtype/Form/BBox[0 0 160 16]/Resources<</Font<</F1 5 0 R>>>>',
  `/Tx BMC BT /F1 12 Tf 2 4 Td (${text}) Tj ET EMC`,
]

describe('what people fill into a PDF', () => {
  const field = (rest: string, rect = '140 676 300 692') =>
    `<</Type/Annot/Subtype/Widget/P 3 0 R/Rect[${rect}]${font}${rest}>>`

  test.each([
    ['a text', field('/FT/Tx/T(applicant)/V(Grace Harbour)'), 'Applicant: Grace Harbour'],
    [
      'a text of which only the value is stored',
      field('/FT/Tx/T(applicant)/V<FEFF0141006F0064017A>'),
      'Applicant: Łodź',
    ],
    [
      'a choice by what its reader sees',
      field('/FT/Ch/Ff 131072/T(applicant)/V(gh)/Opt[[(gh)(Grace Harbour)][(x)(Other)]]'),
      'Applicant: Grace Harbour',
    ],
    [
      'several choices',
      field('/FT/Ch/Ff 2097152/T(applicant)/V[(Ann)(Ben)]/Opt[(Ann)(Ben)(Cid)]'),
      'Applicant: Ann, Ben',
    ],
    [
      'a label that is on the page is not repeated',
      field('/FT/Tx/TU(Applicant)/T(a)/V(Grace Harbour)'),
      'Applicant: Grace Harbour',
    ],
    [
      'a label that is not on the page stands before it',
      field('/FT/Tx/TU(Full name)/T(a)/V(Grace Harbour)'),
      'Applicant: Full name: Grace Harbour',
    ],
    ['a password is not read', field('/FT/Tx/Ff 8192/T(a)/V(secret)'), 'Applicant:'],
    ['a hidden field is not read', field('/FT/Tx/F 2/T(a)/V(secret)'), 'Applicant:'],
    ['an empty field is not read', field('/FT/Tx/T(a)/V()'), 'Applicant:'],
  ])('%s', async (_, object, expected) => {
    const content = rawPage(rawText(72, 680, 'Applicant:'), {
      page: '/Annots[6 0 R]',
      catalog: form('6 0 R'),
      more: [object],
    })
    expect((await blocksOf('form.pdf', content)).join('\n')).toBe(expected)
  })

  test('a field without any text near it has its name', async () => {
    const content = rawPage(rawText(72, 300, 'Application'), {
      page: '/Annots[6 0 R]',
      catalog: form('6 0 R'),
      more: [field('/FT/Tx/T(form.applicant_name)/V(Grace Harbour)')],
    })
    expect(await blocksOf('form.pdf', content)).toEqual([
      'applicant name: Grace Harbour',
      'Application',
    ])
  })

  test('a value of several lines has them all', async () => {
    const content = rawPage(rawText(72, 690, 'Reasons:'), {
      page: '/Annots[6 0 R]',
      catalog: form('6 0 R'),
      more: [
        field('/FT/Tx/Ff 4096/T(r)/V(The pump leaks.\rThe valve is stuck.)', '140 640 400 702'),
      ],
    })
    const all = (await blocksOf('form.pdf', content)).join(' ')
    expect(all).toMatch(/Reasons: The pump leaks\.[\s|]+The valve is stuck\./)
  })

  test('boxes stand before or after their labels and say whether they are marked', async () => {
    const box = (x: number, state: string, rest = '') =>
      field(
        `/FT/Btn/T(b${x})/AS/${state}/V/${state}/AP<</N<</On 6 0 R>>>>${rest}`,
        `${x} 676 ${x + 12} 688`,
      )
    const labels = [
      [100, 'Resident'],
      [220, 'Visitor'],
    ] as const
    const before = rawPage(labels.map(([x, text]) => rawText(x + 18, 678, text)).join(''), {
      page: '/Annots[7 0 R 8 0 R]',
      catalog: form('7 0 R 8 0 R'),
      more: [drawn(''), box(100, 'On'), box(220, 'Off')],
    })
    const after = rawPage(labels.map(([x, text]) => rawText(x - 52, 678, text)).join(''), {
      page: '/Annots[7 0 R 8 0 R]',
      catalog: form('7 0 R 8 0 R'),
      more: [drawn(''), box(100, 'Off'), box(220, 'On')],
    })
    expect((await blocksOf('form.pdf', before)).join('\n')).toBe('☒ Resident ☐ Visitor')
    expect((await blocksOf('form.pdf', after)).join('\n')).toBe('Resident ☐ Visitor ☒')
  })

  test('boxes without a drawing of their own are marked unless they are off', async () => {
    const box = (x: number, state: string) =>
      field(`/FT/Btn/T(b${x})/AS/${state}/V/${state}`, `${x} 676 ${x + 12} 688`)
    const text = rawText(118, 678, 'Resident') + rawText(238, 678, 'Visitor')
    const content = rawPage(text, {
      page: '/Annots[6 0 R 7 0 R]',
      catalog: form('6 0 R 7 0 R'),
      more: [box(100, 'Yes'), box(220, 'Off')],
    })
    expect((await blocksOf('form.pdf', content)).join('\n')).toBe('☒ Resident ☐ Visitor')
  })

  test('a form by a common library has its values beside their labels', async () => {
    const content = await pdf((document) => {
      document.font('Helvetica').fontSize(11).initForm()
      for (const [at, name] of ['Name', 'Street', 'City', 'Phone'].entries()) {
        document.text(`${name}:`, 60, 100 + at * 30)
        document.formText(name, 160, 96 + at * 30, 200, 18, { value: `${name} of Grace` })
      }
    })
    const all = (await blocksOf('form.pdf', content)).join('\n')
    for (const name of ['Name', 'Street', 'City', 'Phone']) {
      expect(all).toMatch(new RegExp(`${name}:[ |]+${name} of Grace`))
    }
  })
})

describe('what people write onto a PDF', () => {
  const text = [
    rawText(72, 700, 'The pump is checked every week by the team of the station, and the result'),
    rawText(72, 684, 'is written into the book of the station on the same day.'),
  ].join('')
  const annotation = (rest: string) => `<</Type/Annot/P 3 0 R/Rect[72 600 300 620]${rest}>>`

  test.each([
    [
      'a free text',
      annotation(`/Subtype/FreeText/Contents(Crane out of order)${font}`),
      'Crane out of order',
    ],
    [
      'a free text that is only drawn',
      annotation(`/Subtype/FreeText${font}/AP<</N 7 0 R>>`),
      'Drawn by hand',
    ],
    ['a note', annotation('/Subtype/Text/T(Ann)/Contents(Is this true?)'), 'Ann: Is this true?'],
    ['a comment on a mark', annotation('/Subtype/Highlight/Contents(Check this)'), 'Check this'],
    ['a stamp', annotation('/Subtype/Stamp/AP<</N 7 0 R>>'), 'Drawn by hand'],
    [
      'a signature',
      annotation('/Subtype/Widget/FT/Sig/T(s)/V<</Type/Sig>>/AP<</N 7 0 R>>'),
      'Drawn by hand',
    ],
  ])('%s is read and breaks no sentence', async (_, object, expected) => {
    const content = rawPage(text, {
      page: '/Annots[6 0 R]',
      more: [object, drawn('Drawn by hand')],
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'The pump is checked every week by the team of the station, and the result is written into the book of the station on the same day.',
      expected,
    ])
  })

  test('a comment that repeats the text which it marks is left out', async () => {
    const object = annotation('/Subtype/Highlight/Contents(checked every week)')
    const content = rawPage(text, { page: '/Annots[6 0 R]', more: [object] })
    expect((await blocksOf('a.pdf', content)).join('\n').match(/every week/g)).toHaveLength(1)
  })

  test('an attached file is told', async () => {
    const content = await pdf((document) => {
      document.text('See the attachment.')
      document.file(Buffer.from('a,b'), { name: 'prices.csv' })
    })
    const { omissions } = await readFile('a.pdf', content)
    expect(omissions).toEqual([
      { kind: 'embedded_file', count: 1, places: [{ part: 'prices.csv' }] },
    ])
  })
})

test.each([
  ['Please wait... If this message is not eventually replaced', ''],
  ['Bitte warten. http://www.adobe.com/go/reader_download', '6 0 R'],
])('a form that only its vendor can build fails with advice: %s', async (message, fields) => {
  const content = rawPage(rawText(72, 700, message), {
    catalog: form(fields, '/XFA[(template) 7 0 R]'),
    more: ['<</FT/Tx/T(a)>>', ['', '<template/>']],
  })
  await expect(readFile('a.pdf', content)).rejects.toMatchObject({
    failure: 'no_text',
    message: expect.stringContaining('print it to a PDF'),
  })
})

test('a form of the same kind with pages is read', async () => {
  const content = rawPage(rawText(72, 680, 'Applicant:'), {
    page: '/Annots[6 0 R]',
    catalog: form('6 0 R', '/XFA[(template) 7 0 R]'),
    more: [
      `<</Type/Annot/Subtype/Widget/P 3 0 R/Rect[140 676 300 692]/FT/Tx/T(a)/V(Grace Harbour)${font}>>`,
      ['', '<template/>'],
    ],
  })
  expect((await blocksOf('a.pdf', content)).join('\n')).toBe('Applicant: Grace Harbour')
})

test('values stand beside their labels on a page most of whose text is sideways', async () => {
  const content = await pdf((document) => {
    document.font('Helvetica').fontSize(10).initForm()
    for (const [at, label] of ['Name', 'Town'].entries()) {
      document.text(`${label}:`, 60, 80 + 24 * at, { lineBreak: false })
      const value = ['Ann', 'Ulm'][at] ?? ''
      document.formText(value, 160, 76 + 24 * at, 200, 18, { value })
    }
    document.save().rotate(-90, { origin: [300, 600] })
    document.text('Fill in this form by hand and send it to the station', 300, 600)
    document.restore()
  })
  const text = (await blocksOf('a.pdf', content)).join('\n').replace(/[|\s]+/g, ' ')
  expect(text).toContain('Name: Ann Town: Ulm')
})

const signed =
  "/V<</Type/Sig/Name(Grace Harbour)/Reason(Accepted \\(all\\))/Location<FEFF0055006C006D>/M(D:20240315083000+01'00')>>"
const whole =
  'Signed by: Grace Harbour Reason: Accepted (all) Location: Ulm Date: 2024-03-15 08:30:00 +01:00'

test.each([
  ['on the page', `/FT/Sig${signed}`, '/Rect[300 90 500 150]', whole],
  ['that is not shown', `/FT/Sig${signed}`, '/F 134/Rect[0 0 0 0]', whole],
  ['of the field around it', '', '/Parent 7 0 R/Rect[300 90 500 150]', whole],
  [
    'whose drawing says some of it',
    `/FT/Sig${signed}`,
    '/AP<</N 8 0 R>>/Rect[300 90 500 150]',
    'Digitally signed by Grace Harbour in Ulm Reason: Accepted (all) Date: 2024-03-15 08:30:00 +01:00',
  ],
  ['that nobody gave', '/FT/Sig', '/Rect[300 90 500 150]', undefined],
])('a signature %s is read with who, why, where and when', async (_, field, widget, expected) => {
  const content = rawPage(rawText(72, 700, 'The pumps are delivered.'), {
    catalog: '/AcroForm<</Fields[6 0 R]>>',
    page: '/Annots[6 0 R]',
    more: [
      `<</Type/Annot/Subtype/Widget/T(seal)${field}${widget}>>`,
      `<</FT/Sig/T(outer)${signed}/Kids[6 0 R]>>`,
      [
        '/Type/XObject/Subtype/Form/BBox[0 0 200 60]/Resources<</Font<</F1 5 0 R>>>>',
        rawText(2, 30, 'Digitally signed by Grace Harbour in Ulm', { size: 8 }),
      ],
    ],
  })
  expect(await blocksOf('a.pdf', content)).toEqual(
    ['The pumps are delivered.', expected].filter((text) => text !== undefined),
  )
})
