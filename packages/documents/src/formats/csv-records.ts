import { finished } from 'node:stream/promises'
import { CsvError, type Options, Parser } from 'csv-parse'
import { append } from '../document/append.js'
import { ExtractionError } from '../document/extraction.js'

/** The separator and the quoting of values. */
export interface Dialect {
  /** One character; none if every line is a single value. */
  separator: string | undefined
  /** The sign before a quote inside of quotes: the quote itself, or a backslash as some databases write it. */
  escape: '"' | '\\'
  /** Whether blanks behind a separator are not part of the value, so that a quote may follow them. */
  isSpaced?: boolean
}

/** Characters of a record. An unclosed quote would make the rest of the file one record. */
const maxRecordLength = 1_000_000
/** Unclosed quotes after which the rest of a text is read without quotes. */
const maxStrayQuotes = 8
/** A character that no decoded text has. */
const noSeparator = '\u0001'

/** Options for reading a text, and a function that gets each record, also twice if the record is read in two ways. */
interface Reading extends Options {
  onEach(record: readonly string[]): void
}

/**
 * Divides a text into records. A quote that is never closed, such as the sign for inches, is a character of its line.
 *
 * @param onEach called with each record that is read, to throw if they are too many
 * @throws ExtractionError if a record is too long
 */
export async function toRecords(
  text: string,
  dialect: Dialect,
  onEach: (record: readonly string[]) => void = () => {},
): Promise<string[][]> {
  const options: Reading = {
    delimiter: dialect.separator ?? noSeparator,
    escape: dialect.escape,
    ltrim: dialect.isSpaced === true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRecordLength,
    onEach,
  }
  const { rows, error } = await read(text, options)
  if (error !== undefined) return await readAroundQuotes(text, options)
  // Three quotes in a row begin a value that is itself in quotes.
  const isStray = !text.includes('"""') && rows.some(hasForeignQuote)
  return isStray ? await readAroundQuotes(text, options) : rows
}

/** A value that continues up to a quote in another line, after which something other than a separator follows. */
const foreignQuote = /^"[^"\n]*\n[^"]*"[^"]/

function hasForeignQuote(record: readonly string[]): boolean {
  return record.some((value) => value.startsWith('"') && foreignQuote.test(value))
}

/** Reads up to the record with a quote that is not closed, its first line without quotes, and on behind it. */
async function readAroundQuotes(text: string, options: Reading): Promise<string[][]> {
  const rows: string[][] = []
  let line = 0
  let from = 0
  for (let strays = 0; from < text.length && strays < maxStrayQuotes; strays += 1) {
    const part = await readUntilStray(text.slice(from), options)
    append(rows, part.rows)
    if (part.isWhole) return rows
    from = startOfLine(text, from, part.lines)
    const next = startOfLine(text, from, 1)
    line += part.lines
    append(rows, await readUnquoted(text.slice(from, next), options, line))
    line += 1
    from = next
  }
  append(rows, await readUnquoted(text.slice(from), options, line))
  return rows
}

/** The records before the first one that is not valid, and their number of lines. */
async function readUntilStray(
  text: string,
  options: Reading,
): Promise<{ rows: string[][]; lines: number; isWhole: boolean }> {
  const { rows, error, ends } = await read(text, options)
  const stray = rows.findIndex(hasForeignQuote)
  const whole = stray === -1 ? rows.length : stray
  return {
    rows: rows.slice(0, whole),
    lines: ends[whole - 1] ?? 0,
    isWhole: error === undefined && stray === -1,
  }
}

/** @param line lines above the text in the file */
async function readUnquoted(text: string, options: Reading, line: number): Promise<string[][]> {
  const { rows, error } = await read(text, { ...options, quote: null })
  if (error !== undefined) throw toExtractionError(error, line)
  return rows
}

/**
 * Reads a text up to the first record that is not valid.
 *
 * @returns the records, the line in which each ends, and the fault of the record after them
 */
async function read(
  text: string,
  { onEach, ...options }: Reading,
): Promise<{ rows: string[][]; ends: number[]; error?: CsvError }> {
  const rows: string[][] = []
  const ends: number[] = []
  const parser = new RecordParser(options, (record, line) => {
    onEach(record)
    // One empty line says as much as the million of them that some programs write.
    if (isEmpty(record) && isEmpty(rows.at(-1))) ends.pop()
    else rows.push(record)
    ends.push(line)
  })
  try {
    parser.resume().end(text)
    await finished(parser)
    return { rows, ends }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { rows, ends, error }
  }
}

/** Hands each record over at once: the parser would make an object of all that it knows for its own callback. */
class RecordParser extends Parser {
  readonly #onRecord: (record: string[], line: number) => void

  constructor(options: Options, onRecord: (record: string[], line: number) => void) {
    super(options)
    this.#onRecord = onRecord
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null)
    this.#onRecord(record, this.info.lines)
    // The parser takes the next record for the first one. It would compare its length with the first otherwise, and make
    // an error with all that it knows of each that differs, which takes a hundred times as long as reading it.
    Object.assign(this.info, { records: 0 })
    return true
  }
}

function isEmpty(record: readonly string[] | undefined): boolean {
  return record?.length === 1 && record[0] === ''
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
