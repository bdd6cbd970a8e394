import type { BlockContent, List, ListItem, Root } from 'mdast'
import { append } from '../document/append.js'
import { type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { createTextLimit, requirePieces, requireReadable } from '../document/limits.js'
import { heading, paragraph, table } from '../document/nodes.js'
import { type Members, maxDepth, readJson, tooDeep, type Value } from './data-values.js'
import { decodeSource } from './decode.js'

/** Maximum ratio of the length of a file to its text: quotes, braces and indentation. */
const maxMarkupRatio = 4

/** Reads JSON, JSON lines and YAML: objects become sections and lists, lists of objects tables. */
export async function extract(source: Source): Promise<Extraction> {
  const text = requireReadable(decodeSource(source), source, maxMarkupRatio)
  const isYaml = /yaml/i.test(source.contentType) || /\.ya?ml$/i.test(source.key)
  const values = isYaml ? await parseYaml(text) : parseJson(text)
  const count = createTextLimit(source)
  const children =
    values.length > 1
      ? documentBlocks(values, count)
      : values.flatMap((value) => toBlocks(value, count))
  const root: Root = { type: 'root', children }
  const title = titleOf(values)
  return title === undefined ? { root } : { root, title }
}

function parseJson(text: string): Value[] {
  try {
    return [readJson(text)]
  } catch (error) {
    return parseLines(text) ?? parseWithComments(text) ?? fail('JSON', error)
  }
}

/** Settings of programs, such as `tsconfig.json`, have comments and a comma behind the last part. */
function parseWithComments(text: string): Value[] | undefined {
  try {
    return [readJson(text, { comments: true })]
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    return undefined
  }
}

/** One value per line, as logs and data sets are written. */
function parseLines(text: string): Value[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length < 2) return undefined
  requirePieces(lines.length, 'lines')
  try {
    return [lines.map((line) => readJson(line))]
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    return undefined
  }
}

async function parseYaml(text: string): Promise<Value[]> {
  const { readYaml } = await import('./yaml-values.js')
  try {
    return readYaml(text)
  } catch (error) {
    return fail('YAML', error)
  }
}

function titleOf(values: readonly Value[]): string | undefined {
  const [value = null] = values
  if (values.length > 1) return undefined
  const stated = statedIn(value, 'title', 'name')
  return stated?.replace(/\s+/g, ' ').trim()
}

function fail(format: string, error: unknown): never {
  if (error instanceof ExtractionError) throw error
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

/** Levels of objects that become headings; deeper levels become nested lists. */
const headingLevels = 3
/** Objects of a list that become a section each: each of them is at least one passage. */
const maxSections = 100_000
/** With more columns, a table is not easier to read than the objects one by one. */
const maxColumns = 40

type Scalar = string | null
type Count = (text: string) => void

/** The blocks of data that was read from another format. */
export function dataToBlocks(value: Value, count: (text: string) => void): BlockContent[] {
  return toBlocks(value, count)
}

/** A section for each document of a file, so that none stands under the headings of the one before. */
function documentBlocks(values: readonly Value[], count: Count): BlockContent[] {
  requirePieces(values.length, 'documents in a file', maxSections)
  return values.flatMap((value, index) => [
    heading(1, nameOf(value) ?? `${index + 1}`),
    ...toBlocks(value, count),
  ])
}

/**
 * The blocks that a value of JSON or YAML becomes.
 *
 * @param count called with every text
 * @throws ExtractionError if it is nested too deeply
 */
function toBlocks(value: Value, count: Count, level = 1): BlockContent[] {
  if (isScalar(value)) return [paragraph(toText(value, count))]
  if (Array.isArray(value)) return listBlocks(value, count, level)
  return objectBlocks(value, count, level)
}

function objectBlocks({ keys, values }: Members, count: Count, level: number): BlockContent[] {
  const plain: ListItem[] = []
  const nested: { key: string; value: Value }[] = []
  keys.forEach((key, at) => {
    const value = values[at] ?? null
    if (isPlain(value)) plain.push(toItem(key, value, count, level))
    else nested.push({ key, value })
  })
  const blocks: BlockContent[] = plain.length > 0 ? [listOf(plain)] : []
  if (level > headingLevels) {
    const items = nested.map(({ key, value }) => toItem(key, value, count, level))
    return items.length > 0 ? [...blocks, listOf(items)] : blocks
  }
  for (const { key, value } of nested) {
    count(key)
    blocks.push(heading(level + 1, key))
    append(blocks, toBlocks(value, count, level + 1))
  }
  return blocks
}

function listBlocks(values: Value[], count: Count, level: number): BlockContent[] {
  const columns = columnsOf(values)
  if (columns !== undefined) {
    columns.forEach(count)
    const rows = values.map(createRowReader(columns, count))
    return [table([columns, ...rows])]
  }
  if (level > headingLevels || values.some((value) => isScalar(value) || Array.isArray(value))) {
    return [toItems(values, count, level)]
  }
  // Objects with more content than a row can hold become a section each, under their name.
  requirePieces(values.length, 'nested objects in a list', maxSections)
  return values.flatMap((value, index) => [
    heading(level + 1, nameOf(value) ?? `${index + 1}`),
    ...toBlocks(value, count, level + 1),
  ])
}

/** The columns of a table, if every value is an object of a few plain members. */
function columnsOf(values: readonly Value[]): string[] | undefined {
  if (values.length < 2) return undefined
  const columns = new Set<string>()
  for (const value of values) {
    if (isScalar(value) || Array.isArray(value)) return undefined
    if (!value.values.every(isPlain)) return undefined
    for (const key of value.keys) columns.add(key)
    if (columns.size > maxColumns) return undefined
  }
  return columns.size === 0 ? undefined : [...columns]
}

/**
 * Returns a function that returns the cells of an object. A member that another object has, but this one lacks, is an
 * empty cell.
 */
function createRowReader(columns: readonly string[], count: Count): (row: Value) => string[] {
  const places = new Map(columns.map((column, at) => [column, at]))
  return (row) => {
    const cells: string[] = new Array(columns.length).fill('')
    let next = 0
    const { keys, values } = membersOf(row)
    keys.forEach((key, place) => {
      // Most objects have their members in the order of the columns.
      const at = columns[next] === key ? next : (places.get(key) ?? 0)
      const text = cellText(values[place] ?? null, count)
      cells[at] = cells[at] ? `${cells[at]}, ${text}` : text
      next = at + 1
    })
    return cells
  }
}

function toItem(key: string, value: Value, count: Count, level: number): ListItem {
  count(key)
  if (isPlain(value)) return item(`${key}: ${cellText(value, count)}`)
  return item(key, toItems(value, count, level + 1))
}

function toItems(value: Value, count: Count, level: number): List {
  if (level > maxDepth) throw tooDeep()
  if (!Array.isArray(value)) {
    const { keys, values } = membersOf(value)
    return listOf(keys.map((key, at) => toItem(key, values[at] ?? null, count, level)))
  }
  return listOf(
    value.map((inner, index): ListItem => {
      if (isScalar(inner)) return item(toText(inner, count))
      return item(nameOf(inner) ?? `${index + 1}`, toItems(inner, count, level + 1))
    }),
  )
}

function listOf(children: ListItem[]): List {
  return { type: 'list', ordered: false, spread: false, children }
}

function item(text: string, inner?: List): ListItem {
  const children = inner === undefined ? [paragraph(text)] : [paragraph(text), inner]
  return { type: 'listItem', spread: false, children }
}

function cellText(value: Value, count: Count): string {
  if (Array.isArray(value)) return value.map((each) => cellText(each, count)).join(', ')
  return typeof value === 'string' ? toText(value, count) : ''
}

function toText(value: Scalar, count: Count): string {
  const text = String(value)
  count(text)
  return text
}

function nameOf(value: Value): string | undefined {
  return statedIn(value, 'title', 'name', 'id')
}

/** The first of these members that is a text. */
function statedIn(value: Value, ...names: string[]): string | undefined {
  const { keys, values } = membersOf(value)
  for (const name of names) {
    const stated = values[keys.indexOf(name)]
    if (typeof stated === 'string' && stated.trim() !== '') return stated
  }
  return undefined
}

const noMembers: Members = { keys: [], values: [] }

function membersOf(value: Value): Members {
  return isScalar(value) || Array.isArray(value) ? noMembers : value
}

function isScalar(value: Value): value is Scalar {
  return value === null || typeof value === 'string'
}

/** Whether a value fits into a cell or a line. */
function isPlain(value: Value): boolean {
  return isScalar(value) || (Array.isArray(value) && value.every(isScalar))
}
