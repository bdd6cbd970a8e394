import { describe, expect, test } from 'vitest'
import { blocksOf } from '../outline.js'

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`
const tableOf = (head: string[], ...rows: string[][]) =>
  [row(...head), `|${' --- |'.repeat(head.length)}`, ...rows.map((cells) => row(...cells))].join(
    '\n',
  )

describe('the separator is the one that makes records', () => {
  test.each<[string, string[], string[]]>([
    [
      'although a quoted value of several lines has another one',
      [
        'id,subject,answer',
        '1,Paper jam,"Open the door;',
        'pull; push;',
        'close it."',
        '2,Dust,Wipe',
      ],
      [
        tableOf(
          ['id', 'subject', 'answer'],
          ['1', 'Paper jam', 'Open the door; pull; push; close it.'],
          ['2', 'Dust', 'Wipe'],
        ),
      ],
    ],
    [
      'with blanks between it and a quoted value',
      ['id, name, price', '1, "Bolt, M8", 3', '2, Nut, 4'],
      [tableOf(['id', 'name', 'price'], ['1', 'Bolt, M8', '3'], ['2', 'Nut', '4'])],
    ],
    [
      'and a line above the table that has one is no table',
      ['Prices; May', '', 'id;name;price', '007;Bolt;1,10', '008;Nut;2,50'],
      [
        'Prices: May',
        tableOf(['id', 'name', 'price'], ['007', 'Bolt', '1,10'], ['008', 'Nut', '2,50']),
      ],
    ],
    [
      'although every amount has a comma',
      ['Tag;Zweck;Betrag', '02.01.2024;Miete;-1.200,00', '03.01.2024;Strom;-85,40'],
      [
        tableOf(
          ['Tag', 'Zweck', 'Betrag'],
          ['02.01.2024', 'Miete', '-1.200,00'],
          ['03.01.2024', 'Strom', '-85,40'],
        ),
      ],
    ],
    [
      'although there is no header and every amount has a comma',
      ['1,5;2,5', '3,5;4,5', '5,5;6,5'],
      [tableOf(['1,5', '2,5'], ['3,5', '4,5'], ['5,5', '6,5'])],
    ],
    [
      'although one value lists things with another one',
      ['id,tags', '1,a;b;c', '2,d;e;f', '3,g;h;i'],
      [tableOf(['id', 'tags'], ['1', 'a;b;c'], ['2', 'd;e;f'], ['3', 'g;h;i'])],
    ],
    [
      'although rows lack their last values',
      ['name;city;turnover;note', 'Ada;Ulm;1.200,50;new', 'Bob;Bonn;85,40', 'Total;;1.285,90'],
      [
        tableOf(
          ['name', 'city', 'turnover', 'note'],
          ['Ada', 'Ulm', '1.200,50', 'new'],
          ['Bob', 'Bonn', '85,40', ''],
          ['Total', '', '1.285,90', ''],
        ),
      ],
    ],
    [
      'although sentences have commas',
      ['Question|Answer', 'How, and when?|Now, by hand, and often', 'Why?|It rusts, else'],
      [
        tableOf(
          ['Question', 'Answer'],
          ['How, and when?', 'Now, by hand, and often'],
          ['Why?', 'It rusts, else'],
        ),
      ],
    ],
    ['of tabs', ['a\tb', '1,5\t2,5'], [tableOf(['a', 'b'], ['1,5', '2,5'])]],
    ['with spaces behind it', ['a, b, c', '1, 2, 3'], [tableOf(['a', 'b', 'c'], ['1', '2', '3'])]],
    [
      'with quotes that a database escapes with a backslash',
      ['"a","b"', '"He said \\"no, never\\"","1"', '"x","2"'],
      [tableOf(['a', 'b'], ['He said "no, never"', '1'], ['x', '2'])],
    ],
  ])('%s', async (_, lines, expected) => {
    expect(await blocksOf('a.csv', lines.join('\r\n'))).toEqual(expected)
  })

  test.each([
    ['amounts with a comma', ['Price', '1,50', '2,75', '3,10'], ['Price', '1,50', '2,75', '3,10']],
    [
      'sentences',
      ['Question', 'How do I, as a guest, pay?', 'May I stay?', 'When, and where?', 'Why?'],
      ['Question', 'How do I, as a guest, pay?', 'May I stay?', 'When, and where?', 'Why?'],
    ],
    ['quoted lines', ['Text', '"one', 'two"', 'x', 'y'], ['Text', 'one two', 'x', 'y']],
  ])('is none in a single column of %s', async (_, lines, expected) => {
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      expected.map((text) => `- ${text}`).join('\n'),
    ])
  })
})

describe('a table of separated values', () => {
  test('has what stands above it, between its rows and below it as paragraphs', async () => {
    const lines = [
      '\ufeffAccount statement, January',
      'Checking account',
      '',
      'Day;Purpose;Amount',
      '02.01.2024;Rent;-1.200,00',
      '',
      '03.01.2024;Power;-85,40',
      'Amounts below are estimates',
      '05.01.2024;Salary;2.950,10',
      '',
      'Printed on 6 January',
    ]
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      'Account statement, January',
      'Checking account',
      tableOf(
        ['Day', 'Purpose', 'Amount'],
        ['02.01.2024', 'Rent', '-1.200,00'],
        ['03.01.2024', 'Power', '-85,40'],
      ),
      'Amounts below are estimates',
      tableOf(['Day', 'Purpose', 'Amount'], ['05.01.2024', 'Salary', '2.950,10']),
      'Printed on 6 January',
    ])
  })

  test('goes on behind a remark between empty lines, with its header again', async () => {
    const lines = ['a;b;c', '1;2;3', '', 'From here on estimates', '', '4;5;6', '7;8;9']
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      tableOf(['a', 'b', 'c'], ['1', '2', '3']),
      'From here on estimates',
      tableOf(['a', 'b', 'c'], ['4', '5', '6'], ['7', '8', '9']),
    ])
  })

  test('goes on behind every empty line, also if it has words only', async () => {
    const lines = ['Term;Meaning', '', 'Pump;moves water', '', 'Seal;keeps it in', '', 'Hose;bends']
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      tableOf(
        ['Term', 'Meaning'],
        ['Pump', 'moves water'],
        ['Seal', 'keeps it in'],
        ['Hose', 'bends'],
      ),
    ])
  })

  test('ends where another one begins', async () => {
    const lines = [
      'Product;Price;Stock',
      'Pump;10;3',
      'Seal;2;40',
      '',
      'City;Sales',
      'Ulm;120',
      'Bonn;80',
      '',
      'Name;Number of days;Place',
      'Ada;3;Ulm',
    ]
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      tableOf(['Product', 'Price', 'Stock'], ['Pump', '10', '3'], ['Seal', '2', '40']),
      tableOf(['City', 'Sales'], ['Ulm', '120'], ['Bonn', '80']),
      tableOf(['Name', 'Number of days', 'Place'], ['Ada', '3', 'Ulm']),
    ])
  })

  test('has lines above it that a program filled up with separators, or names with values', async () => {
    const lines = [
      'Price list;;;;',
      'Customer;Miller;;;',
      'Code;Name;Size;Stock;Price',
      '01234;Pump;1.10;3;10',
      '01235;Seal;1.20;40;2',
    ]
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      'Price list',
      'Customer: Miller',
      tableOf(
        ['Code', 'Name', 'Size', 'Stock', 'Price'],
        ['01234', 'Pump', '1.10', '3', '10'],
        ['01235', 'Seal', '1.20', '40', '2'],
      ),
    ])
  })

  test('keeps the spelling of its values', async () => {
    const values = ['1.10', '01234', '738529527931269425', '+49 731', '1E5', '0x1F', 'TRUE', '½']
    const lines = ['n;value', ...values.map((value, at) => `${at};${value}`)]
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      tableOf(['n', 'value'], ...values.map((value, at) => [String(at), value])),
    ])
  })

  test('is read around a quote that is never closed', async () => {
    const lines = ['a;b;c', '1;"two', 'lines";x', '2;"12 inches;y', '3;"a; b";z']
    expect(await blocksOf('a.csv', lines.join('\n'))).toEqual([
      tableOf(
        ['a', 'b', 'c'],
        ['1', 'two lines', 'x'],
        ['2', '"12 inches', 'y'],
        ['3', 'a; b', 'z'],
      ),
    ])
  })

  test.each([
    ['sep=;', 'sep=;\na;b\n1,2;3,4'],
    ['"sep=;"', '"sep=;"\r\na;b\r\n1,2;3,4'],
    ['a UTF-16 file', Buffer.from('\ufeffsep=;\na;b\n1,2;3,4', 'utf16le')],
  ])('has the separator that %s states', async (_, content) => {
    expect(await blocksOf('a.csv', content)).toEqual([tableOf(['a', 'b'], ['1,2', '3,4'])])
  })

  test('with another separator than its extension says is a table all the same', async () => {
    const lines = ['a,b,c', '1,2,3', '4,5,6']
    expect(await blocksOf('a.tsv', lines.join('\n'))).toEqual([
      tableOf(['a', 'b', 'c'], ['1', '2', '3'], ['4', '5', '6']),
    ])
  })
})

test('a file of stray quotes or of separators takes no long time', async () => {
  const quotes = `a;b\n${'1;"x\n'.repeat(20_000)}`
  expect((await blocksOf('a.csv', quotes)).join('\n')).toContain('| 1 | "x |')
  expect((await blocksOf('b.csv', `x${';,\t|'.repeat(10_000)}y`)).join('\n')).toContain('x')
})
