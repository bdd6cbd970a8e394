import type { Extraction, Source } from '../document/extraction.js'
import { createLengthLimit, requireReadable, separatorLength } from '../document/limits.js'
import { findDialect } from './csv-dialect.js'
import { type Dialect, toRecords } from './csv-records.js'
import { decodeSource } from './decode.js'
import { toTables } from './sheet-tables.js'

/** Maximum ratio of the length of a table to its text: separators and quotes. */
const maxMarkupRatio = 2
/** The line by which a file tells Excel its separator. */
const separatorLine = /^"?sep=(.)"?\n/i

/** Reads values separated by commas, semicolons, tabs or bars. The first record of a table is its header. */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeSource(source)
  const text = requireReadable(decoded, source, maxMarkupRatio)
  const line = separatorLine.exec(text)
  const body = line === null ? text : text.slice(line[0].length)
  const isTabbed = /tab-separated/i.test(source.contentType) || /\.(?:tsv|tab)$/i.test(source.key)
  const found = await findDialect(body, line?.[1] ?? (isTabbed ? '\t' : undefined))
  const dialect: Dialect = { ...found, separator: line?.[1] ?? found.separator }
  const limit = createRecordLimit(source)
  const known = dialect.separator === found.separator ? found.records : undefined
  const records = known ?? (await toRecords(body, dialect, limit))
  known?.forEach(limit)
  const rows = records.map((record) => ({
    cells: record.map((value) => value.replace(/\s+/g, ' ').trim()),
    values: record.length,
  }))
  // `toTables` drops the empty column that a separator at the end of every line makes.
  return { root: { type: 'root', children: toTables(rows, dialect.separator) } }
}

/** Stops reading as soon as the values are more than can be indexed: many short ones take much memory. */
function createRecordLimit(source: Source): (record: readonly string[]) => void {
  const count = createLengthLimit(source)
  return (record) => {
    for (const value of record) if (value !== '') count(value.length + separatorLength)
  }
}
