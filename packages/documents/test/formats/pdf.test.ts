import { describe, expect, test } from 'vitest'
import { blocksOf, passagesOf, readFile } from '../outline.js'
import { drawTable, pdf, sentences } from '../pdf.js'

describe('a PDF', () => {
  test('of a paper in two columns is read down the left one, then down the right one', async () => {
    const content = await pdf((document) => {
      document.font('Helvetica-Bold').fontSize(20).text('A Study of Pumps', { align: 'center' })
      document.font('Helvetica').fontSize(10).text(sentences('everything', 3))
      const top = document.y + 20
      for (const [left, names] of [
        [60, ['Introduction', 'Methods']],
        [310, ['Results', 'Discussion']],
      ] as const) {
        document.y = top
        for (const name of names) {
          document.font('Helvetica-Bold').fontSize(13).text(name, left, document.y, { width: 225 })
          document.font('Helvetica').fontSize(10)
          document.text(sentences(name, 5), left, document.y, { width: 225, align: 'justify' })
          document.moveDown()
        }
      }
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      '# A Study of Pumps',
      sentences('everything', 3),
      '## Introduction',
      sentences('Introduction', 5),
      '## Methods',
      sentences('Methods', 5),
      '## Results',
      sentences('Results', 5),
      '## Discussion',
      sentences('Discussion', 5),
    ])
  })

  test.each([
    [
      'of uneven lines',
      [
        ['The plant in Leeds produced forty thousand', 34, 100, 11],
        ['gearboxes, of which three percent were', 34, 113, 11],
        ['returned by customers in the first quarter.', 34, 126, 11],
        ['Consumption fell to 8.4 GWh because the', 34, 149, 11],
        ['furnace was replaced in March by an electrical induction', 34, 162, 11],
        ['furnace that recovers heat.', 312, 89, 11],
        ['Two hundred and six people work here;', 312, 113, 11],
        ['nineteen are apprentices who learn for three', 312, 126, 11],
        ['years.', 312, 139, 11],
      ],
      [
        'The plant in Leeds produced forty thousand gearboxes, of which three percent were returned by customers in the first quarter.',
        'Consumption fell to 8.4 GWh because the furnace was replaced in March by an electrical induction furnace that recovers heat.',
        'Two hundred and six people work here; nineteen are apprentices who learn for three years.',
      ],
    ],
    [
      'with headings',
      [
        ['Annual report', 34, 114, 22],
        ['The plant in Leeds produced forty thousand', 34, 144, 11],
        ['gearboxes, of which three percent were', 34, 157, 11],
        ['returned by customers in the first quarter.', 34, 170, 11],
        ['Energy', 34, 202, 16.5],
        ['Consumption fell to 8.4 GWh because the', 312, 89, 11],
        ['furnace was replaced in March by an induction', 312, 102, 11],
        ['furnace that recovers heat.', 312, 115, 11],
        ['People', 312, 146, 16.5],
        ['Two hundred and six people work here;', 312, 175, 11],
        ['nineteen are apprentices who learn for three', 312, 188, 11],
        ['years.', 312, 201, 11],
      ],
      [
        '# Annual report',
        'The plant in Leeds produced forty thousand gearboxes, of which three percent were returned by customers in the first quarter.',
        '## Energy',
        'Consumption fell to 8.4 GWh because the furnace was replaced in March by an induction furnace that recovers heat.',
        '## People',
        'Two hundred and six people work here; nineteen are apprentices who learn for three years.',
      ],
    ],
  ] as const)('of two short columns %s is read down both', async (_, lines, expected) => {
    const content = await pdf((document) => {
      for (const [text, x, baseline, size] of lines) {
        document.font('Times-Roman').fontSize(size)
        document.text(text, x, baseline, { lineBreak: false, baseline: 'alphabetic' })
      }
    })
    expect(await blocksOf('a.pdf', content)).toEqual(expected)
  })

  test('has a table row by row, with its header and the right page on every page', async () => {
    const rows = Array.from({ length: 90 }, (_, at) => [
      `PX-${at}`,
      `Pump of size ${at}`,
      `${at}.50`,
    ])
    let pages: number[] = []
    const content = await pdf((document) => {
      document.fontSize(16).text('Price list').moveDown()
      pages = drawTable(document, [60, 160, 400], [['Article', 'Description', 'Price'], ...rows])
    })
    const passages = await passagesOf('a.pdf', content)
    expect(passages.length).toBeGreaterThan(3)
    for (const passage of passages) {
      expect(passage.content).toContain('| Article | Description | Price |\n| --- | --- | --- |')
    }
    expect(passages[0]).toMatchObject({ pageNumber: 1, ownHeadings: ['Price list'] })
    rows.forEach((row, at) => {
      const found = passages.find(({ content }) => content.includes(`| ${row.join(' | ')} |`))
      expect(found?.pageNumber).toBe(pages[at])
    })
    expect(new Set(pages)).toEqual(new Set([1, 2, 3]))
  })

  test('continues a table without a header on the next page under the header of the first', async () => {
    const content = await pdf((document) => {
      drawTable(
        document,
        [60, 160, 400],
        [
          ['Code', 'Name', 'Price'],
          ['A', 'Pump', '1'],
          ['B', 'Seal', '2'],
        ],
      )
      document.addPage()
      drawTable(
        document,
        [60, 160, 400],
        [
          ['C', 'Hose', '3'],
          ['D', 'Ring', '4'],
        ],
      )
    })
    expect((await blocksOf('a.pdf', content))[1]).toBe(
      '| Code | Name | Price |\n| --- | --- | --- |\n| C | Hose | 3 |\n| D | Ring | 4 |',
    )
  })

  test('has cells of several lines as one', async () => {
    const content = await pdf((document) => {
      const cells = [
        [60, 60, 'Part'],
        [160, 60, 'Use'],
        [420, 60, 'Price'],
        [60, 80, 'Seal'],
        [160, 80, 'Keeps the water of the sta-'],
        [420, 80, '2'],
        [160, 92, 'tion inside of the pump'],
        [60, 112, 'Hose'],
        [160, 112, 'Carries it'],
        [420, 112, '9'],
      ] as const
      document.fontSize(10)
      for (const [x, y, text] of cells) document.text(text, x, y, { lineBreak: false })
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      '| Part | Use | Price |\n| --- | --- | --- |\n| Seal | Keeps the water of the station inside of the pump | 2 |\n| Hose | Carries it | 9 |',
    ])
  })

  test('has no running headers, footers and page numbers, but every chapter', async () => {
    const content = await pdf((document) => {
      for (let page = 1; page <= 5; page += 1) {
        if (page > 1) document.addPage()
        document.page.margins.bottom = 0
        document.fontSize(8).text('Pump Company', 60, 30).text(`Page ${page} of 5`, 60, 800)
        document.page.margins.bottom = 60
        document.fontSize(18).text(`Chapter ${page}`, 60, 70)
        document.fontSize(11).text(sentences(`chapter ${page}`, 8))
      }
    })
    const passages = await passagesOf('a.pdf', content)
    const all = passages.map((passage) => passage.content).join('\n')
    expect(all).not.toMatch(/Pump Company|Page \d/)
    expect(passages.map(({ ownHeadings }) => ownHeadings[0])).toEqual(
      [1, 2, 3, 4, 5].map((page) => `Chapter ${page}`),
    )
    expect(passages.map(({ pageNumber }) => pageNumber)).toEqual([1, 2, 3, 4, 5])
  })

  test('has no running headers that change with every chapter, but keeps the headings that they repeat', async () => {
    const content = await pdf((document) => {
      for (let page = 1; page <= 8; page += 1) {
        if (page > 1) document.addPage()
        const chapter = Math.ceil(page / 2)
        const isLeft = page % 2 === 0
        const name = ['Care', 'Storage', 'Repair', 'Parts'][chapter - 1]
        document.fontSize(11)
        document.text(isLeft ? `${page + 2} The Book of Pumps` : `${name} ${page + 2}`, 60, 30)
        document.text(`${page} sealed valves are needed in step ${chapter} of ${name}.`, 60, 80)
        document.text(sentences(`${name} on page ${page}`, 6), 60, 110)
      }
    })
    const all = (await blocksOf('a.pdf', content)).join('\n')
    expect(all).not.toMatch(/The Book|(Care|Storage|Repair|Parts) \d/)
    expect(all.match(/sealed valves/g)).toHaveLength(8)
  })

  test('keeps headings that begin with the number of their page', async () => {
    const names = ['Care', 'Storage', 'Repair', 'Parts']
    const content = await pdf((document) => {
      names.forEach((name, at) => {
        if (at > 0) document.addPage()
        document
          .font('Helvetica-Bold')
          .fontSize(11)
          .text(`${at + 1} ${name}`, 60, 60)
        document.font('Helvetica').text(sentences(name, 8), 60, 90)
      })
    })
    const headings = (await passagesOf('a.pdf', content)).map(({ ownHeadings }) => ownHeadings[0])
    expect(headings).toEqual(names.map((name, at) => `${at + 1} ${name}`))
  })

  test('joins words that were hyphenated at line ends, and keeps real hyphens', async () => {
    const content = await pdf((document) => {
      document.fontSize(11)
      document.text(
        'Regular care is known. The well-known rules apply, for the mainte-\nnance of pumps is a well-\nknown duty. Some use mainte\u00ad\nnance plans of the North-\nSea kind.',
      )
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'Regular care is known. The well-known rules apply, for the maintenance of pumps is a well-known duty. Some use maintenance plans of the North-Sea kind.',
    ])
  })

  test('keeps the hyphen of compounds, single letters and codes at line ends', async () => {
    const content = await pdf((document) => {
      document.fontSize(11)
      document.text(
        'The pump is battery-\ndriven. Write an e-\nmail with the number 4711-\nAB or 2024-\n17 for the long-\nterm plan, which is cor-\nrelated with the docu-\nmentation.',
      )
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'The pump is battery-driven. Write an e-mail with the number 4711-AB or 2024-17 for the long-term plan, which is correlated with the documentation.',
    ])
  })

  test('continues a sentence on the next page', async () => {
    const content = await pdf((document) => {
      document
        .fontSize(11)
        .text('The valve is closed by hand when the pressure falls and then', 60, 700)
      document.addPage().text('opened again after an hour.', 60, 60)
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'The valve is closed by hand when the pressure falls and then opened again after an hour.',
    ])
  })

  test('has the headings of the outline at their levels', async () => {
    const content = await pdf((document) => {
      const part = document.outline.addItem('1 Safety')
      document
        .font('Helvetica')
        .fontSize(11)
        .text('1 Safety')
        .text(sentences('safety', 4))
        .moveDown()
      part.addItem('Electricity')
      document.text('1.1 Electricity').text(sentences('electricity', 4))
    })
    expect((await blocksOf('a.pdf', content)).filter((text) => text.startsWith('#'))).toEqual([
      '# 1 Safety',
      '## 1.1 Electricity',
    ])
  })

  test('has lists and code as they are', async () => {
    const content = await pdf((document) => {
      document.fontSize(11).text('Do this:').moveDown()
      document.text('1. Close the valve').text('2. Wait for an hour').text('3. Open it').moveDown()
      document.font('Courier').fontSize(10).text('if (pressure > 4) {')
      document.text('stop()', 72).text('}', 60)
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'Do this:',
      '1. Close the valve\n2. Wait for an hour\n3. Open it',
      '```\nif (pressure > 4) {\n  stop()\n}\n```',
    ])
  })

  test('takes no bold word at the beginning of a line for a heading, and no name in a line for code', async () => {
    const content = await pdf((document) => {
      document.font('Helvetica').fontSize(11).text(sentences('pumps', 6)).moveDown(2)
      for (const [font, name, rest] of [
        ['Helvetica-Bold', 'Returns', ': zero if all is well, else the number of the fault'],
        ['Courier', 'pump_open', ' begins the work and answers at once'],
      ] as const) {
        document.font(font).text(name, { continued: true }).font('Helvetica').text(rest).moveDown(2)
      }
      document.font('Helvetica-Bold').text('Faults').moveDown().font('Helvetica')
      document.text(sentences('faults', 3))
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      sentences('pumps', 6),
      'Returns: zero if all is well, else the number of the fault',
      'pump_open begins the work and answers at once',
      '## Faults',
      sentences('faults', 3),
    ])
  })

  test('separates a definition from the next term', async () => {
    const content = await pdf((document) => {
      document.font('Helvetica').fontSize(10)
      for (const term of ['--pump', '--valve']) {
        document.text(term, 60).text(sentences(term, 3), 100, document.y, { width: 300 })
      }
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      `--pump ${sentences('--pump', 3)}`,
      `--valve ${sentences('--valve', 3)}`,
    ])
  })

  test('has code with columns as code, and a text in large type as text', async () => {
    const content = await pdf((document) => {
      document.font('Courier').fontSize(10).text('pumps --list', 60, 60)
      const rows = [
        ['NAME', 'STATE'],
        ['north', 'on'],
        ['south', 'off'],
        ['west', 'on'],
      ]
      rows.forEach(([name = '', state = ''], at) => {
        document.text(name, 60, 72 + at * 12, { lineBreak: false })
        document.text(state, 132, 72 + at * 12, { lineBreak: false })
      })
      document.font('Helvetica').text(sentences('pumps', 12), 60, 160)
      document.fontSize(13).text(sentences('large type', 8), 60, 360)
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      '```\npumps --list\nNAME        STATE\nnorth       on\nsouth       off\nwest        on\n```',
      sentences('pumps', 12),
      sentences('large type', 8),
    ])
  })

  test('has no table for sentences with wide gaps, and no table of contents', async () => {
    const content = await pdf((document) => {
      document.fontSize(10)
      const lines = [
        ['The pump is tested by hand.', 'Then the valve is shut,', 212],
        ['and the water is led off through the hose.', 'Its end', 285],
        ['must be dry.', 'After this the seal is changed by two men.', 140],
      ] as const
      lines.forEach(([left, right, x], at) => {
        document.text(left, 60, 60 + at * 12, { lineBreak: false })
        document.text(right, x, 60 + at * 12, { lineBreak: false })
      })
      for (let at = 1; at <= 6; at += 1) {
        document.text(`1.${at}`, 60, 120 + at * 14, { lineBreak: false })
        document.text(`Part ${at} . . . . . . . . ${at}`, 100, 120 + at * 14, { lineBreak: false })
      }
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      'The pump is tested by hand. Then the valve is shut, and the water is led off through the hose. Its end must be dry. After this the seal is changed by two men.',
    ])
  })

  test('on rotated pages is read upright', async () => {
    const content = await pdf(
      (document) => {
        Object.assign(document.page.dictionary.data, { Rotate: 90 })
        document.rotate(-90, { origin: [0, 0] }).fontSize(11)
        document.text('Turned text', -700, 100, { lineBreak: false })
        document.text('second line', -700, 114, { lineBreak: false })
      },
      { info: { Title: 'report.docx' } },
    )
    const { title } = await readFile('a.pdf', content)
    expect(title).toBeUndefined()
    expect(await blocksOf('a.pdf', content)).toEqual(['Turned text second line'])
  })
})

describe('a PDF that cannot be read says why and what to do', () => {
  test('with a password', async () => {
    const content = await pdf((document) => document.text('Secret'), { userPassword: 'x' })
    await expect(readFile('a.pdf', content)).rejects.toMatchObject({
      failure: 'protected',
      message: expect.stringContaining('Save it without the password'),
    })
  })

  test('unless the password only restricts what may be done with it', async () => {
    const content = await pdf((document) => document.text('Readable'), { ownerPassword: 'x' })
    expect(await blocksOf('a.pdf', content)).toEqual(['Readable'])
  })

  test('of scanned pages', async () => {
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const content = await pdf((document) => {
      document.image(Buffer.from(pixel, 'base64'), 0, 0, { width: 500 })
    })
    await expect(readFile('scan.pdf', content)).rejects.toMatchObject({
      failure: 'no_text',
      message: expect.stringContaining('OCR'),
    })
  })

  test('that is a web page under a wrong name', async () => {
    await expect(readFile('a.pdf', '<html>Not found</html>')).rejects.toMatchObject({
      failure: 'damaged',
      message: 'Its content is a web page, not PDF: upload it as .html.',
    })
  })

  test('of too many pages', async () => {
    const content = await pdf((document) => {
      for (let page = 0; page < 5; page += 1) document.addPage()
    })
    const { extract } = await import('../../src/formats/pdf.js')
    const source = { bytes: content, contentType: '', key: 'a.pdf', maxPages: 4 }
    await expect(extract(source)).rejects.toMatchObject({
      failure: 'too_many_pages',
      message: expect.stringContaining('6 pages; at most 4'),
    })
  })
})
