import { describe, expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { number, text, workbook } from '../workbook.js'

/** The text of a cell with a format; a number names a built-in one. */
async function shown(
  format: string | number,
  value: number | string,
  properties = '',
): Promise<string> {
  const rows = `<row r="1">${text('A1', 'Value')}${text('B1', 'Shown')}</row><row r="2">${text('A2', 'x')}${number('B2', value, 1)}</row>`
  const content = workbook({ S: rows }, { formats: [format], properties })
  const lines = (await blocksOf('a.xlsx', content)).at(-1)?.split('\n') ?? []
  return lines[2]?.replace(/^\| x \| ?/, '').replace(/ ?\|$/, '') ?? ''
}

describe('a number is shown as Excel does', () => {
  test.each<[string | number, number | string, string]>([
    // General: eleven digits, but whole numbers with all of theirs.
    ['General', 0.30000000000000004, '0.3'],
    ['General', 1 / 3, '0.333333333'],
    ['General', 1234.5, '1234.5'],
    ['General', 1.2e-7, '0.00000012'],
    ['General', 1.23456789e-7, '1.23457E-07'],
    ['General', 0, '0'],
    ['General', -17, '-17'],
    ['General', '4006381333931', '4006381333931'],
    ['General', '738529527931269425', '738529527931269425'],
    ['General', '1E+25', '1E+25'],
    [0, 12.5, '12.5'],
    ['GENERAL', 12.5, '12.5'],
    ['General" pcs"', 5, '5 pcs'],
    // Digits, thousands and decimals.
    [1, 2.5, '3'],
    [2, 2.5, '2.50'],
    [3, 1234567.8, '1,234,568'],
    [4, 1249.5, '1,249.50'],
    ['0.00', 1.005, '1.01'],
    ['0.00', 2.675, '2.68'],
    ['0.0#', 2, '2.0'],
    ['#.##', 0.5, '.5'],
    ['00000', 1234, '01234'],
    ['00000', '01234', '01234'],
    ['0000000000000', '4006381333931', '4006381333931'],
    ['0', '123456789012345678', '123456789012345678'],
    ['000-00-0000', 123456789, '123-45-6789'],
    ['(000) 000-0000', 5551234567, '(555) 123-4567'],
    ['0.0,,"M"', 12345678, '12.3M'],
    ['#,##0,', 1234567, '1,235'],
    // Units, signs and text.
    ['0 "kg"', 7, '7 kg'],
    ['0.0\\ \\k\\g', 7, '7.0 kg'],
    ['"Q"0', 3, 'Q3'],
    ['\\#0', 5, '#5'],
    ['0 "a;b"', 5, '5 a;b'],
    // Years of Japanese eras, whose names are Japanese in Excel too.
    ['[$-411]ge.m.d', 45366, 'R6.3.15'],
    ['[$-411]GE.M.D', 43586, 'R1.5.1'],
    ['[$-1030411]gee.mm.dd', 43585, 'H31.04.30'],
    ['[$-411]ggge"年"m"月"d"日"', 32515, '昭和64年1月7日'],
    ['[$-ja-JP]gge', 45366, '令6'],
    ['[$-ja-JP-x-gannen]ggge"年"m"月"d"日"', 43586, '令和元年5月1日'],
    ['[$-411]ge.m.d h:mm', 45366.5, 'R6.3.15 12:00'],
    ['[$-411]ge.m.d', 1, 'M33.1.1'],
    ['[$-411]yyyy"年"m"月"d"日"', 45366, '2024年3月15日'],
    // Percentages, exponents, fractions.
    [9, 0.056, '6%'],
    [10, 0.0525, '5.25%'],
    ['0.0%;[Red]-0.0%', -0.052, '-5.2%'],
    ['0.00E+00', 1.2e-7, '1.20E-07'],
    [11, 123456, '1.23E+05'],
    [48, 12345, '12.3E+3'],
    ['##0.0E+0', 12345, '12.3E+3'],
    [12, 1.5, '1 1/2'],
    ['# ??/??', 0.3125, '5/16'],
    ['# ?/8', 1.25, '1 2/8'],
    // Sections and conditions.
    ['0;(0);"none"', 5, '5'],
    ['0;(0);"none"', -5, '(5)'],
    ['0;(0);"none"', 0, 'none'],
    ['$#,##0_);[Red]($#,##0)', -5000, '($5,000)'],
    [37, -5000, '-5,000'],
    [39, 5000, '5,000.00'],
    ['[<1000]0" m";0.0," km"', 750, '750 m'],
    ['[<1000]0" m";0.0," km"', 1500, '1.5 km'],
    ['[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', 12345, '12.3K'],
    ['[Green]0;[Rot]-0', 4, '4'],
    ['[Color 12]0', 4, '4'],
    [';;;', 4, ''],
    // Currencies; the language of a currency does not change the signs of its amount.
    ['#,##0.00\\ "€"', 1249.5, '1,249.50 €'],
    ['#,##0.00\\ [$€-407]', 1249.5, '1,249.50 €'],
    ['[$£-809]#,##0.00', 1249.5, '£1,249.50'],
    ['[$CHF]\\ #,##0', 1200, 'CHF 1,200'],
    ['_-* #,##0.00\\ _€_-;-* #,##0.00\\ _€_-;_-* "-"??\\ _€_-', -1234.5, '-1,234.50'],
    ['_-* #,##0.00\\ _€_-;-* #,##0.00\\ _€_-;_-* "-"??\\ _€_-', 0, '-'],
    // Dates, and the day that did not exist.
    [14, 45366, '2024-03-15'],
    [22, 45366.75, '2024-03-15 18:00'],
    [15, 45366, '15-Mar-24'],
    [16, 45366, '15-Mar'],
    [17, 45366, 'Mar-24'],
    ['dd.mm.yyyy', 45366, '15.03.2024'],
    ['d/m/yyyy', 45366, '15/3/2024'],
    ['yyyy\\-mm\\-dd;@', 45366, '2024-03-15'],
    ['YYYY-MM-DD HH:MM:SS', 45366.75, '2024-03-15 18:00:00'],
    ['[$-409]dddd, mmmm d, yyyy', 45366, 'Friday, March 15, 2024'],
    ['[$-407]d. mmmm yyyy', 45366, '15. März 2024'],
    ['[$-F800]dddd, mmmm dd, yyyy', 45366, 'Friday, March 15, 2024'],
    ['yyyy"年"m"月"d"日"', 45366, '2024年3月15日'],
    ['yyyy-mm-dd', 59, '1900-02-28'],
    ['yyyy-mm-dd', 60, '1900-02-29'],
    ['yyyy-mm-dd', 61, '1900-03-01'],
    ['yyyy-mm-dd hh:mm', 45366.999999999, '2024-03-16 00:00'],
    ['dd.mm.yyyy', -1, '-1'],
    // Times and durations.
    [18, 0.75, '6:00 PM'],
    [19, 0.75, '6:00:00 PM'],
    [20, 0.75, '18:00'],
    [21, 0.75, '18:00:00'],
    ['h:mm:ss AM/PM', 0.25, '6:00:00 AM'],
    [45, 0.0625, '30:00'],
    [46, 1.5, '36:00:00'],
    [47, 0.00001, '00:00.9'],
    ['[h]:mm', 1.5, '36:00'],
    ['[hh]:mm:ss', 0.0625, '01:30:00'],
    ['[mm]:ss', 0.05, '72:00'],
    ['[s]', 0.01, '864'],
    ['[h]:mm', -0.5, '-12:00'],
    ['[h]"h "mm"m"', 1.75, '42h 00m'],
    ['mm:ss.000', 0.000011574, '00:01.000'],
    // A value with an invalid format is shown without one.
    ['0.0 "open', 5.25, '5.25'],
    ['constructor', 5, '5'],
    ['__proto__', 5, '5'],
    ['0'.repeat(300), 5, '5'],
    ['@', 5, '5'],
  ])('%s of %s is %s', async (format, value, expected) => {
    expect(await shown(format, value)).toBe(expected)
  })

  test('with dates from 1904, whose durations begin at zero too', async () => {
    const from1904 = 'date1904="1"'
    expect(await shown('yyyy-mm-dd', 43904, from1904)).toBe('2024-03-15')
    expect(await shown('[h]:mm', 1.5, from1904)).toBe('36:00')
    expect(await shown('[h]:mm', -1.5, from1904)).toBe('-36:00')
  })
})

test('texts, booleans, errors and dates in ISO form are shown with the format of their cell', async () => {
  const cells = [
    '<c r="A1" t="inlineStr" s="1"><is><t>4711</t></is></c>',
    '<c r="B1" t="b" s="2"><v>1</v></c>',
    '<c r="C1" t="e"><v>#DIV/0!</v></c>',
    '<c r="D1" t="d" s="2"><v>2024-03-15T18:00:00</v></c>',
    '<c r="E1" t="d"><v>2024-03-15</v></c>',
    '<c r="F1" t="str" s="3"><f>A1</f><v>x</v></c>',
  ]
  const formats = ['0;-0;0;"No. "@', 'dd.mm.yyyy', '0_);(0);0;_(@_)']
  const content = workbook({ S: `<row r="1">${cells.join('')}</row>` }, { formats })
  expect((await blocksOf('a.xlsx', content))[1]?.split('\n')[0]).toBe(
    '| No. 4711 | TRUE | #DIV/0! | 15.03.2024 | 2024-03-15 | x |',
  )
})
