import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { supportedFormats } from '../../src/formats/formats.js'
import { blocksOf, readFile } from '../outline.js'

/** Files that the scripts in this folder made with programs that people use. */
const folder = new URL('../programs/', import.meta.url)

interface Case {
  /** Of the folder. */
  file: string
  /** Text of the document, in the order in which it must be read. */
  read: string[]
  /** Text that must not be read. */
  unread?: RegExp
  /** The expected omissions: kind, count and first place. */
  told?: [kind: string, count: number, place?: object][]
}

const hiddenText: Case['told'] = [['hidden_text', 1]]
const contract = [
  'Header: Contract of sale',
  '## 1.1 Time',
  '- (a) The goods arrive',
  'Comment (Ann Lee): Really?',
  '10^6 at most.[^1]',
  '| North | 10 net | 20 |\n| North | 30 | 40 |',
]
const hiddenSheet: Case['told'] = [['hidden_sheet', 1, { sheet: 'Costs' }]]
const machines = ['| 01234 | 15.03.2024 | 36:00 | 1,249.50 € |', 'Without tax']
const harbours = ['# Tides', 'H₂O opens 10^6 times', 'note[1]', 'A gate for water.']
const slides = ['# Pumps of 2024', '- A) Quiet', 'Notes:', 'Mention the prize.', 'In a shape']
const prices = '| 738529527931269426 | 01235 | 2,50 | two lines, "quoted" |'
const talk = ['The pump starts.', '01:02', 'Ann: Close the valve', 'before you leave.']

/** A file of a program, or several, for each row of the table of formats in the guide to indexing. */
const rows: Record<string, Case[]> = {
  'Markdown, MDX': [
    {
      file: 'pandoc.gfm.md',
      read: [
        '# Safety',
        '10^6 microseconds',
        '[the page](https://pumps',
        '| N1 | 10 € |',
        '> Do not',
      ],
    },
  ],
  'HTML, XHTML, SVG': [
    { file: 'pandoc.html', read: [...harbours, 'gate = 1\n  open = 2'] },
    { file: 'libreoffice.html', read: ['H₂O opens 10^6 times', 'A gate for water.'] },
    { file: 'libreoffice.xhtml', read: ['H₂O opens 10^6 times', 'A gate for water.'] },
    {
      file: 'pygments.html',
      read: ['# start.py', 'def start(pump):\n    pump.open()\n\n    return pump'],
      unread: /\d/,
    },
  ],
  PDF: [
    {
      file: 'ghostscript.pdf',
      read: ['Inspector: Grace Harbour', '|  | Inlet pressure | Flow rate |', '10^6 cycles'],
      told: [['scanned_page', 1, { page: 2 }]],
    },
    {
      file: 'pdftex.pdf',
      read: [
        '# Flow in pumps',
        '## 1 Introduction',
        'the efficient flow of 10^6 litres',
        '- A pump of 1/2 litre.\n- A valve.',
        '## 2 Results',
        '| Pump | Inlet | Outlet |\n| --- | --- | --- |\n| North | 3.1 | 4.7 |\n| South | 3.2 | 4.8 |',
        'See the annex.',
      ],
    },
    { file: 'weasyprint.pdf', read: ['# Valves', 'The inlet opens 10^6 times.', 'Ring 3.10'] },
    { file: 'groff.pdf', read: ['## NAME', 'pump - moves water', '## OPTIONS', '--rate Sets the'] },
    { file: 'chromium.pdf', read: ['# Pumps of the station', '| South | not measured | not'] },
    { file: 'libreoffice.pdf', read: ['Drawing of the pump', '4. Close the valve\n5. Wait'] },
  ],
  Word: [
    { file: 'libreoffice.docx', read: contract, told: hiddenText },
    {
      file: 'python.docx',
      read: ['# Handover', '10^6', '2. Open the lid', '| Pressure | Pressure | Pressure |', '3.1'],
      told: [['picture_without_text', 1, { part: 'word/media/image1.png' }]],
    },
    { file: 'pandoc.docx', read: ['# Safety', '10^6', 'x^(n+1)', '| N2 | 12 € |', 'wait()'] },
  ],
  PowerPoint: [
    { file: 'libreoffice.pptx', read: slides },
    {
      file: 'pandoc.pptx',
      read: ['1. Quiet', 'Mention the prize.', '| 2024 | 50 |', '10^6 turns'],
    },
  ],
  Excel: [
    { file: 'libreoffice.xlsx', read: machines, told: hiddenSheet },
    { file: 'gnumeric.xlsx', read: machines },
    {
      file: 'openpyxl.xlsx',
      read: [
        '| North | 2024-03-15 8:30:00 | 36:00:00 | 12.50 EUR |',
        '| not in use | not in use | not in use | 0 |',
      ],
      told: [
        ['hidden_sheet', 1, { sheet: 'Secret' }],
        ['formula_without_value', 1, { sheet: 'Hours' }],
      ],
    },
    {
      file: 'xlsxwriter.xlsx',
      read: ['| June | 50 | 54.9% |', 'It made 10^6 turns', 'Sales of 2024', 'Counted twice'],
    },
  ],
  'OpenDocument text': [
    { file: 'libreoffice.odt', read: contract, told: hiddenText },
    { file: 'libreoffice.odp', read: slides },
    { file: 'pandoc.odt', read: ['# Safety', '10^6', 'x^(n+1)', '| N2 | 12 € |', 'wait()'] },
  ],
  'OpenDocument spreadsheet': [
    { file: 'libreoffice.ods', read: machines, told: hiddenSheet },
    { file: 'gnumeric.ods', read: machines, told: hiddenSheet },
  ],
  EPUB: [
    { file: 'pandoc.epub', read: harbours },
    { file: 'libreoffice.epub', read: ['note[1]', 'A gate for water.'] },
  ],
  'E-mail': [
    {
      file: 'python.eml',
      read: [
        '# Prüfung der Pumpe',
        'From: Ännchen Lee <ann@',
        '**again**',
        '## Preise März.csv',
        '| seal | 2,50 |',
      ],
      told: [['embedded_file', 1, { part: 'firmware.bin' }]],
    },
    {
      file: 'mutt.eml',
      read: ['# Düse geprüft', 'kostet 12 €', '## page.txt', 'pump \\- moves water'],
    },
    { file: 'python.mbox', read: ['# Valve', '\nFrom here too.', '# Lid', 'The lid is open.'] },
    {
      file: 'chromium.mht',
      read: ['# Valves of the pump', '10^6 times', '| Seal | 2.50 |'],
      unread: /Blink/,
      told: [['picture_without_text', 1]],
    },
  ],
  Calendar: [
    {
      file: 'calcurse.ics',
      read: ['# Service of the north pump', '2024-03-15 08:30', '1 h 30 min', '# Order new seals'],
    },
  ],
  'Address book': [
    {
      file: 'abook.vcf',
      read: [
        '# Ann Müller',
        'Telephone (cell): 0171 2345678',
        'Hafenweg 4, Bremen, 01234',
        'Orders',
      ],
    },
    { file: 'abook.ldif', read: ['# Ann Müller', 'mail: ann@example.com', 'Hafenweg 4'] },
  ],
  'CSV, TSV': [
    { file: 'sqlite.csv', read: ['| 738529527931269425 | 01234 | 1.10 | quiet |', prices] },
    { file: 'sqlite.tsv', read: ['| 738529527931269426 | 01235 | 2,50 |'] },
    {
      file: 'libreoffice.csv',
      read: ['Machines of 2024', '| Post code |', '1,249.50 €', 'Ask the'],
    },
  ],
  'JSON, JSON lines, YAML': [
    { file: 'sqlite.json', read: ['| 738529527931269425 | 01234 | 1.10 | quiet |', prices] },
    { file: 'jq.jsonl', read: ['| 01234 | 1.10 | quiet |', '| 01235 | 2,50 | two lines'] },
    {
      file: 'python.yaml',
      read: ['| 738529527931269425 | 01234 | 1.1 | two lines |', '## copy', '- since: 2019-05-01'],
    },
    {
      file: 'tsc.jsonc',
      read: [
        '- //: Visit https://aka.ms',
        '- //: File Layout',
        '- module: nodenext',
        '- strict: true',
      ],
    },
  ],
  XML: [
    {
      file: 'pandoc.xml',
      read: [
        '- title: Pump manual',
        'wait 10^6 microseconds',
        'H₂O',
        'Close the valve',
        'N1, 10 €',
      ],
    },
  ],
  'Jupyter notebooks': [
    {
      file: 'pandoc.ipynb',
      read: [
        '# Flow of the pump',
        'The flow is 10^6 litres.',
        '```\ndef flow(rate):\n    return rate * 2\n\nprint(flow(21))\n```',
        '```\n42 litres\n```',
        'Not for printing.',
      ],
      unread: /cell_type|stdout/,
    },
  ],
  subtitles: ['srt', 'vtt', 'ass'].map((extension) => ({
    file: `ffmpeg.${extension}`,
    read: talk,
    unread: /Dialogue|-->|<i>|\\i1/,
  })),
  'source code': [
    { file: 'sqlite.sql', read: ['```sql\n', "(738529527931269425,'01234','1.10','quiet')"] },
    { file: 'diff.patch', read: ['```patch\n', '-start: open\n+start: open slowly'] },
  ],
  settings: [{ file: 'configparser.ini', read: ['# pump north', 'rate = 010', '# alarm', 'ann@'] }],
  'Org, reStructuredText, AsciiDoc, TeX': [
    { file: 'pandoc.org', read: ['# Safety', '10^{6}', 'N1    | 10 €', '```\nif (hot)\n  wait()'] },
    { file: 'pandoc.rst', read: ['## Safety', '10\\ :sup:`6`', 'N1    10 €', 'wait()'] },
    { file: 'pandoc.adoc', read: ['## Safety', '10^6^', 'N1 |10 €', '```\nif (hot)\n  wait()'] },
    {
      file: 'pandoc.tex',
      read: [
        '# Pump manual',
        '## Safety',
        'Then wait 10^6 microseconds',
        'H₂O only, see the page (https://pumps.example/)',
        '\\(\\frac{1}{2}\\) litre, at most \\(x^{n+1}\\)',
        '- Close the valve',
        'N1 & 10 €',
        '```\nif (hot)\n  wait()',
      ],
      unread: /hypertarget|tightlist|midrule|tabularnewline/,
    },
  ],
  'plain text, and any other file that is text': [
    {
      file: 'pandoc.txt',
      read: ['Pump manual', '10⁶ microseconds', '1.  Close', 'N1         10 €'],
    },
    {
      file: 'groff.txt',
      read: ['# PUMP(1)', '## NAME', 'pump - moves water', '## OPTIONS', '--dry'],
    },
    { file: 'w3m.txt', read: ['Tides', '10^6 times', 'Soup', 'A gate for water.'] },
    ...['cp1250', 'utf16'].map((encoding) => ({
      file: `iconv.${encoding}.txt`,
      read: ['Przed naprawą należy wyłączyć', 'Zużyte uszczelki'],
    })),
    { file: 'iconv.sjis.txt', read: ['ポンプの取扱説明書', '軸受を確認してください'] },
  ],
}

/** The rows of the table of formats in the guide: its name, and the extensions that it lists. */
function guide(): { name: string; extensions: string[] }[] {
  const path = '../../../../docs/guides/indexing.md'
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  const table = /^\| Format \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? ''
  return table
    .trim()
    .split('\n')
    .map((row) => {
      const cell = row.split('|')[1]?.trim() ?? ''
      return {
        name: cell.replace(/ \(`.*/, ''),
        extensions: [...cell.matchAll(/`(\.\w+)`/g)].map(([, extension = '']) => extension),
      }
    })
}

describe.each(Object.entries(rows))('the row %s of the guide holds for', (_, cases) => {
  test.each(cases)('$file', async ({ file, read, unread, told = [] }) => {
    const content = readFileSync(new URL(file, folder))
    const text = (await blocksOf(file, content)).join('\n\n')
    let from = 0
    for (const part of read) {
      const at = text.indexOf(part, from)
      expect(at, `${part} in ${text.slice(from)}`).toBeGreaterThan(-1)
      from = at + part.length
    }
    if (unread !== undefined) expect(text).not.toMatch(unread)
    const { omissions = [] } = await readFile(file, content)
    expect(omissions).toMatchObject(
      told.map(([kind, count, place]) => ({ kind, count, ...(place && { places: [place] }) })),
    )
  })
})

test('each row of the guide has files of programs, each format is in a row, and each file is read', () => {
  expect(guide().map(({ name }) => name)).toEqual(Object.keys(rows))
  const extensions = guide().flatMap((row) => row.extensions)
  const known = supportedFormats.flatMap((format) => format.extensions)
  expect(extensions.filter((extension) => !known.includes(extension))).toEqual([])
  const isListed = (format: (typeof supportedFormats)[number]) =>
    format.extensions.some((extension) => extensions.includes(extension))
  expect(supportedFormats.filter((format) => !isListed(format))).toEqual([])
  expect(Object.values(rows).filter((cases) => cases.length === 0)).toEqual([])
})

test.each([
  ['libreoffice.doc', 'save the document as .docx'],
  ['libreoffice.rtf', 'Save the document as .docx or PDF'],
  ['libreoffice.xls', 'Save the workbook as .xlsx'],
])('%s, which is not read, is refused with advice', async (file, advice) => {
  await expect(readFile(file, readFileSync(new URL(file, folder)))).rejects.toThrow(advice)
})

test('each document in the folder is read by a test', () => {
  const sources = /^make.*\.sh$|^manual\.md$|^slides\.(?:md|fodp)$|\.fo\w+$/
  const tested = readdirSync(new URL('.', import.meta.url))
    .filter((name) => name.endsWith('programs.test.ts') || name === 'guide.test.ts')
    .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
    .join('\n')
  const isTested = (file: string) =>
    tested.includes(file.replace(/\.pdf$/, '')) ||
    file.startsWith('ffmpeg.') ||
    file.startsWith('iconv.')
  const files = readdirSync(folder).filter((file) => !sources.test(file))
  expect(files.filter((file) => !isTested(file))).toEqual([])
})
