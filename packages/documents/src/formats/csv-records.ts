import { CsvError, type Options, parse } from 'csv-parse/sync'
import { ExtractionError } from '../document/extraction.js'

/** How values are separated and quoted. */
export interface Dialect {
  /** One character; none if every line is a single value. */
  separator: string | undefined
  /** The sign before a quote inside of quotes: the quote itself, or a backslash as some databases write it. */
  escape: '"' | '\\'
}

/** Characters of a record. An unclosed quote would make the rest of the file one record. */
const maxRecordLength = 1_000_000
/** Quotes that are none after which a text is read without quotes. */
const maxStrayQuotes = 8
/** A character that no decoded text has. */
const noSeparator = '\u0001'

/**
 * Divides a text into records. A quote that is never closed, such as the sign for inches, is a character of its line.
 *
 * @throws ExtractionError if a record is too long
 */
export function toRecords(text: string, dialect: Dialect): string[][] {
  const options: Options = {
    delimiter: dialect.separator ?? noSeparator,
    escape: dialect.escape,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRecordLength,
  }
  try {
    const rows = read(text, options)
    // Three quotes in a row begin a value that is itself in quotes.
    const isStray = !text.includes('"""') && rows.some(hasForeignQuote)
    return isStray ? readAroundQuotes(text, options) : rows
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return readAroundQuotes(text, options)
  }
}

/** The beginning of a value that goes on up to the quote of another line, behind which more follows than a separator. */
const foreignQuote = /^"[^"\n]*\n[^"]*"[^"]/

function hasForeignQuote(record: readonly string[]): boolean {
  return record.some((value) => value.startsWith('"') && foreignQuote.test(value))
}

/** Reads up to the record with a quote that is not closed, its first line without quotes, and on behind it. */
function readAroundQuotes(text: string, options: Options): string[][] {
  const rows: string[][] = []
  let line = 0
  let from = 0
  for (let strays = 0; from < text.length && strays < maxStrayQuotes; strays += 1) {
    const part = readUntilError(text.slice(from), options)
    for (const row of part.rows) rows.push(row)
    if (part.isWhole) return rows
    from = startOfLine(text, from, part.lines)
    const next = startOfLine(text, from, 1)
    line += part.lines
    for (const row of readUnquoted(text.slice(from, next), options, line)) rows.push(row)
    line += 1
    from = next
  }
  for (const row of readUnquoted(text.slice(from), options, line)) rows.push(row)
  return rows
}

/** The records before the first one that is not valid, and how many lines they have. */
function readUntilError(
  text: string,
  options: Options,
): { rows: string[][]; lines: number; isWhole: boolean } {
  const rows: string[][] = []
  let lines = 0
  let isWhole = true
  try {
    parse(text, {
      ...options,
      on_record(record: string[], context) {
        isWhole &&= !hasForeignQuote(record)
        if (!isWhole) return null
        rows.push(record)
        lines = context.lines
        return null
      },
    })
    return { rows, lines, isWhole }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { rows, lines, isWhole: false }
  }
}

/** @param line lines above the text in the file */
function readUnquoted(text: string, options: Options, line: number): string[][] {
  try {
    return read(text, { ...options, quote: null })
  } catch (error) {
    throw toExtractionError(error, line)
  }
}

function read(text: string, options: Options): string[][] {
  const rows: unknown = parse(text, options)
  if (!Array.isArray(rows)) return []
  return rows.map((row) => (Array.isArray(row) ? row.map(String) : []))
}

/** The offset of the line that is some lines behind an offset, or the end of the text. */
function startOfLine(text: string, from: number, lines: number): number {
  let at = from
  for (let count = 0; count < lines; count += 1) {
    const end = text.indexOf('\n', at)
    if (end === -1) return text.length
    at = end + 1
  }
  return at
}

/** The error for the author of a table that cannot be parsed. */
function toExtractionError(error: unknown, line: number): unknown {
  if (!(error instanceof CsvError)) return error
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return new ExtractionError(
      'too_large',
      `The record in line ${line + Number(error.lines)} has more than ${maxRecordLength.toLocaleString('en')} characters, ` +
        'the maximum. Reduce the number of columns, or write one record per line, and upload it again.',
      { cause: error },
    )
  }
  return new ExtractionError(
    'damaged',
    `The file is not a valid table of separated values (${error.message}). Correct it and upload it again, or upload it as plain text.`,
    { cause: error },
  )
}
