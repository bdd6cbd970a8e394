import { type Dialect, toRecords } from './csv-records.js'

const separators = [',', ';', '\t', '|'] as const
/** Characters by which a dialect is judged. */
const sampleLength = 32_768
/** Share of the credit of a full record that one with fewer or more values than most gets. */
const shorterCredit = 0.7
const longerCredit = 0.3
/** Weights of the signs against a candidate, see {@link judge}. */
const headerPenalty = 0.4
const leftoverPenalty = 0.4
const spacePenalty = 0.3
/** Bonus for each further column, up to a number of columns. */
const columnBonus = 0.05
const maxBonusColumns = 8
/** Factor by which a separator that the name or the type of the file states is preferred. */
const statedBonus = 1.5

/** Separators that are not part of ordinary values, unlike a comma. */
const rareSeparator = /[;\t|]/
/** A separator of another kind without a space behind it, as in the header of a table. */
const anySeparator = /[;\t|]|,\S/
const decimal = /^[-+]?\d[\d.]*,\d{1,3}\s?[%€$£]?$/

/** A value in quotes that begins behind blanks and ends at a separator or with its line. */
const spacedQuote: Readonly<Record<(typeof separators)[number], RegExp>> = {
  ',': /, {1,8}"[^"\n]{0,1000}"(?=,|\n|$)/,
  ';': /; {1,8}"[^"\n]{0,1000}"(?=;|\n|$)/,
  '\t': /\t {1,8}"[^"\n]{0,1000}"(?=\t|\n|$)/,
  '|': /\| {1,8}"[^"\n]{0,1000}"(?=\||\n|$)/,
}

export interface FoundDialect extends Dialect {
  /** The records of the whole text, if it is so short that all of it was read. */
  records?: string[][]
}

/**
 * Finds how values are separated by the records that each candidate makes of the beginning of a text: a right one makes
 * records of one length, header included, and leaves no other separators in the values.
 *
 * @param stated the separator that the name or the type of the file stands for
 */
export async function findDialect(text: string, stated?: string): Promise<FoundDialect> {
  const sample = sampleOf(text)
  const escapes: Dialect['escape'][] = sample.includes('\\"') ? ['"', '\\'] : ['"']
  let best: { dialect: FoundDialect; score: number } = {
    dialect: { separator: undefined, escape: '"' },
    score: 0,
  }
  for (const separator of separators) {
    // Reading takes as long as for a sign that is one.
    if (!sample.includes(separator)) continue
    const isSpaced = spacedQuote[separator].test(sample)
    for (const escapeSign of escapes) {
      const dialect = { separator, escape: escapeSign, isSpaced }
      const records = await toRecords(sample, dialect)
      const score = judge(records, dialect) * (separator === stated ? statedBonus : 1)
      const whole = sample === text ? { records } : {}
      if (score > best.score) best = { dialect: { ...dialect, ...whole }, score }
    }
  }
  return best.dialect
}

/** The beginning of a text, up to the end of a line. */
function sampleOf(text: string): string {
  if (text.length <= sampleLength) return text
  const end = text.lastIndexOf('\n', sampleLength)
  return text.slice(0, end === -1 ? sampleLength : end)
}

/** Scores a dialect: 0 if it makes no table, about 1 for a table without anything else. */
function judge(records: readonly string[][], { separator, isSpaced = false }: Dialect): number {
  const filled = records.filter((record) => record.some((value) => value.trim() !== ''))
  const length = usualLength(filled)
  if (length < 2 || separator === undefined) return 0
  const fitting = filled.filter((record) => record.length === length)
  const credit = filled.reduce((sum, record) => sum + creditOf(record, length), 0)
  const share = credit / filled.length
  const related = filled.filter((record) => record.length > 1).length
  if (related < 2 && filled.length > 1) return 0
  if (separator === ',' && isProse(fitting, share, filled.length)) return 0
  // Sentences quote words behind commas too.
  if (separator === ',' && isSpaced && share < 0.9) return 0
  if (separator === ',' && length === 2 && fitting.every(isDecimal)) return 0
  return (
    share *
    (followsForeignHeader(records, length) ? 1 - headerPenalty : 1) *
    (1 - leftoverPenalty * shareOf(fitting.flat(), (value) => rareSeparator.test(value))) *
    (1 - spacePenalty * (separator === ',' ? spaceShare(fitting) : 0)) *
    (1 + columnBonus * Math.min(length - 2, maxBonusColumns))
  )
}

/** The most common number of values among the records that have several; 0 if there are none. */
function usualLength(records: readonly string[][]): number {
  const counts = new Map<number, number>()
  for (const { length } of records) {
    if (length > 1) counts.set(length, (counts.get(length) ?? 0) + 1)
  }
  const sorted = [...counts].sort(([length, count], [otherLength, otherCount]) => {
    return otherCount - count || otherLength - length
  })
  return sorted[0]?.[0] ?? 0
}

function creditOf(record: readonly string[], length: number): number {
  if (record.length === length) return 1
  if (record.length < 2) return 0
  return record.length < length ? shorterCredit : longerCredit
}

/** Sentences with commas have a space behind each, and rarely the same number of them. */
function isProse(fitting: readonly string[][], share: number, count: number): boolean {
  return spaceShare(fitting) > 0.8 && (share < 0.9 || count < 2)
}

function spaceShare(records: readonly string[][]): number {
  return shareOf(
    records.flatMap((record) => record.slice(1)),
    (value) => value.startsWith(' ') && value.trim() !== '',
  )
}

/** Whether the comma of a line is that of a number: the only value of the line. */
function isDecimal(record: readonly string[]): boolean {
  return decimal.test(record.join(',').trim())
}

/** Whether the line directly above the first record is not divided, although it has separators of another kind. */
function followsForeignHeader(records: readonly string[][], length: number): boolean {
  const first = records.findIndex((record) => record.length === length)
  const above = records[first - 1]
  return above?.length === 1 && anySeparator.test(above[0] ?? '')
}

function shareOf<T>(values: readonly T[], test: (value: T) => boolean): number {
  return values.length === 0 ? 0 : values.filter(test).length / values.length
}
