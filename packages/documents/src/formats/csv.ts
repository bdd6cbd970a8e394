import { CsvError, type Options, parse } from 'csv-parse/sync'
import { type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { requireReadable } from '../document/limits.js'
import { decodeSource } from './decode.js'
import { toTables } from './sheet-tables.js'

/** How many times longer than its text a table may be: separators and quotes. */
const maxMarkupRatio = 2
const separatorCandidates = [',', ';', '\t', '|']
/** Lines by which the separator is guessed. */
const sampleLines = 20
/** Characters of a record. An unclosed quote would make the rest of the file one record. */
const maxRecordLength = 1_000_000

/** Reads values separated by commas, semicolons, tabs or bars. The first row is the header. */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeSource(source)
  const text = requireReadable(decoded, source, maxMarkupRatio)
  const stated = /^sep=(.)\n/i.exec(text)
  const body = stated === null ? text : text.slice(stated[0].length)
  const isTabbed = /tab-separated/i.test(source.contentType) || /\.tsv$/i.test(source.key)
  const delimiter = stated?.[1] ?? (isTabbed ? '\t' : guessSeparator(body))
  const rows = toRecords(body, delimiter).map((row) =>
    row.map((cell) => cell.replace(/\s+/g, ' ').trim()),
  )
  // `toTables` drops the empty column that a separator at the end of every line makes.
  return { root: { type: 'root', children: toTables(rows) } }
}

function toRecords(text: string, delimiter: string): string[][] {
  const options: Options = {
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRecordLength,
  }
  try {
    return readRecords(text, options)
  } catch {
    // A stray quote, such as for inches: read again with every line as a record.
    try {
      return readRecords(text, { ...options, quote: null })
    } catch (error) {
      throw toExtractionError(error)
    }
  }
}

/** The error for the author of a table that cannot be parsed. */
function toExtractionError(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return new ExtractionError(
      'too_large',
      `The record in line ${error.lines} has more than ${maxRecordLength.toLocaleString('en')} characters, ` +
        'the most that a record may have. Give the table fewer columns, or one record a line, and upload it again.',
      { cause: error },
    )
  }
  return new ExtractionError(
    'damaged',
    `The file is not a valid table of separated values (${error.message}). Correct it and upload it again, or upload it as plain text.`,
    { cause: error },
  )
}

function readRecords(text: string, options: Options): string[][] {
  const rows: unknown = parse(text, options)
  if (!Array.isArray(rows)) return []
  return rows.map((row) => (Array.isArray(row) ? row.map(String) : []))
}

/** The separator that divides the first lines into the most even number of columns. */
function guessSeparator(text: string): string {
  const lines = text.split('\n', sampleLines).filter((line) => line.trim() !== '')
  const scored = separatorCandidates.map((separator) => {
    const counts = lines.map((line) => line.replace(/"[^"]*"/g, '').split(separator).length - 1)
    const least = Math.min(...counts)
    const most = Math.max(...counts)
    return { separator, score: most === 0 ? 0 : (least + 0.1) / most + Math.min(least, 50) / 100 }
  })
  return scored.reduce((best, each) => (each.score > best.score ? each : best)).separator
}
