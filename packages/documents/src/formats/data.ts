import type { BlockContent, List, ListItem, Root } from 'mdast'
import { type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { createTextLimit, requireReadable } from '../document/limits.js'
import { heading, paragraph, table } from '../document/nodes.js'
import { decodeSource } from './decode.js'

/** How many times longer than its text a file may be: quotes, braces and indentation. */
const maxMarkupRatio = 4
/** Values that aliases may repeat; more are an attack. */
const maxAliases = 100

/** Reads JSON, JSON lines and YAML: objects become sections and lists, lists of objects tables. */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeSource(source)
  const text = requireReadable(decoded, source, maxMarkupRatio)
  const isYaml = /yaml/i.test(source.contentType) || /\.ya?ml$/i.test(source.key)
  const values = isYaml ? await parseYaml(text) : parseJson(text)
  const count = createTextLimit(source)
  const children: BlockContent[] = values.flatMap((value) => toBlocks(value, count))
  const root: Root = { type: 'root', children }
  const title = titleOf(values)
  return title === undefined ? { root } : { root, title }
}

function parseJson(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch (error) {
    return parseLines(text) ?? fail('JSON', error)
  }
}

/** One value per line, as logs and data sets are written. */
function parseLines(text: string): unknown[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length < 2) return undefined
  try {
    return [lines.map((line): unknown => JSON.parse(line))]
  } catch {
    return undefined
  }
}

async function parseYaml(text: string): Promise<unknown[]> {
  const { Lexer, parseAllDocuments } = await import('yaml')
  requireFlat(new Lexer().lex(text))
  const documents = parseAllDocuments(text, { logLevel: 'silent' })
  // For a text without documents, the parser returns an object that is not a list of documents.
  const parsed = Array.isArray(documents) ? documents : []
  return parsed.map((document): unknown => {
    const [error] = document.errors
    if (error !== undefined) return fail('YAML', error)
    try {
      return document.toJS({ maxAliasCount: maxAliases })
    } catch (failure) {
      if (failure instanceof ReferenceError) throw tooManyAliases(failure)
      return fail('YAML', failure)
    }
  })
}

/**
 * Counts brackets before parsing, because the parser is recursive and takes much memory per level.
 *
 * @throws ExtractionError if they are nested too deeply
 */
function requireFlat(lexemes: Iterable<string>): void {
  let depth = 0
  for (const lexeme of lexemes) {
    if (lexeme === '[' || lexeme === '{') depth += 1
    else if (lexeme === ']' || lexeme === '}') depth -= 1
    if (depth > maxDepth) throw tooDeep()
  }
}

function titleOf(values: readonly unknown[]): string | undefined {
  const [value] = values
  if (typeof value !== 'object' || value === null || values.length > 1) return undefined
  const { title, name } = value as { title?: unknown; name?: unknown }
  const stated = [title, name].find((each) => typeof each === 'string' && each.trim() !== '')
  return typeof stated === 'string' ? stated.replace(/\s+/g, ' ').trim() : undefined
}

function tooManyAliases(cause: Error): ExtractionError {
  return new ExtractionError(
    'too_large',
    `The aliases of the YAML repeat more than ${maxAliases} times what they stand for, or stand for nothing (${cause.message}). ` +
      'Write out what they stand for, and upload it again.',
    { cause },
  )
}

function fail(format: string, error: unknown): never {
  // Lists nested without brackets: the parser has no bound but its stack.
  if (error instanceof Error && /call stack/i.test(error.message)) throw tooDeep()
  const detail =
    error instanceof Error ? error.message.split('\n')[0]?.replace(/:$/, '') : String(error)
  throw new ExtractionError(
    'damaged',
    `The file is not valid ${format} (${detail}). Correct it and upload it again, or upload it as plain text.`,
    { cause: error },
  )
}

/** Levels of objects that become headings; what is deeper becomes nested lists. */
const headingLevels = 3
/** Levels of data, which are walked recursively. */
const maxDepth = 100
/** With more columns, a table is not easier to read than the objects one by one. */
const maxColumns = 40

type Scalar = string | number | boolean | null
type Count = (text: string) => void

/**
 * The blocks that a value of JSON or YAML becomes.
 *
 * @param count called with every text
 * @throws ExtractionError if it is nested too deeply
 */
export function toBlocks(value: unknown, count: Count, level = 1): BlockContent[] {
  if (isScalar(value)) return [paragraph(toText(value, count))]
  if (Array.isArray(value)) return listBlocks(value, count, level)
  return objectBlocks(value, count, level)
}

function objectBlocks(value: unknown, count: Count, level: number): BlockContent[] {
  const blocks: BlockContent[] = []
  const plain: [string, unknown][] = []
  const nested: [string, unknown][] = []
  for (const entry of Object.entries(value ?? {})) {
    const isPlain = isScalar(entry[1]) || isScalarList(entry[1])
    if (isPlain) plain.push(entry)
    else nested.push(entry)
  }
  if (plain.length > 0) blocks.push(toList(plain, count, level))
  if (level > headingLevels) {
    if (nested.length > 0) blocks.push(toList(nested, count, level))
    return blocks
  }
  for (const [key, inner] of nested) {
    count(key)
    blocks.push(heading(level + 1, key), ...toBlocks(inner, count, level + 1))
  }
  return blocks
}

function listBlocks(values: readonly unknown[], count: Count, level: number): BlockContent[] {
  const columns = columnsOf(values)
  if (columns !== undefined) {
    columns.forEach(count)
    const rows = values.map((row) => columns.map((column) => cellText(Object(row)[column], count)))
    return [table([columns, ...rows])]
  }
  if (level > headingLevels || values.some((value) => isScalar(value) || Array.isArray(value))) {
    return [toItems(values, count, level)]
  }
  // Objects with more content than a row can hold become a section each, under their name.
  return values.flatMap((value, index) => [
    heading(level + 1, nameOf(value) ?? `${index + 1}`),
    ...toBlocks(value, count, level + 1),
  ])
}

/** The columns of a table, if every value is an object of a few plain members. */
function columnsOf(values: readonly unknown[]): string[] | undefined {
  if (values.length < 2) return undefined
  const columns = new Set<string>()
  for (const value of values) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    for (const [key, inner] of Object.entries(value)) {
      if (!isScalar(inner) && !isScalarList(inner)) return undefined
      columns.add(key)
    }
    if (columns.size > maxColumns) return undefined
  }
  return columns.size === 0 ? undefined : [...columns]
}

function toList(entries: readonly [string, unknown][], count: Count, level: number): List {
  const children = entries.map(([key, value]): ListItem => {
    count(key)
    if (isScalar(value) || isScalarList(value)) return item(`${key}: ${cellText(value, count)}`)
    return item(key, toItems(value, count, level + 1))
  })
  return { type: 'list', ordered: false, spread: false, children }
}

function toItems(value: unknown, count: Count, level: number): List {
  if (level > maxDepth) throw tooDeep()
  if (!Array.isArray(value)) return toList(Object.entries(value ?? {}), count, level)
  const children = value.map((inner, index): ListItem => {
    if (isScalar(inner)) return item(toText(inner, count))
    return item(nameOf(inner) ?? `${index + 1}`, toItems(inner, count, level + 1))
  })
  return { type: 'list', ordered: false, spread: false, children }
}

function item(text: string, inner?: List): ListItem {
  const children = inner === undefined ? [paragraph(text)] : [paragraph(text), inner]
  return { type: 'listItem', spread: false, children }
}

function cellText(value: unknown, count: Count): string {
  if (Array.isArray(value)) return value.map((each) => cellText(each, count)).join(', ')
  // A member that another object has, but this one lacks, is an empty cell.
  const isNothing = value === null || value === undefined
  return isScalar(value) && !isNothing ? toText(value, count) : ''
}

function toText(value: Scalar, count: Count): string {
  const text = String(value)
  count(text)
  return text
}

function nameOf(value: unknown): string | undefined {
  const { title, name, id } = Object(value) as Record<string, unknown>
  const stated = [title, name, id].find((each) => typeof each === 'string' && each.trim() !== '')
  return typeof stated === 'string' ? stated : undefined
}

function isScalar(value: unknown): value is Scalar {
  return value === null || value === undefined || typeof value !== 'object'
}

function isScalarList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isScalar)
}

/** The error for data that is nested more deeply than `maxDepth`. */
function tooDeep(): ExtractionError {
  return new ExtractionError(
    'too_deep',
    `The data is nested more than ${maxDepth} levels deep. Flatten it and upload it again.`,
  )
}
