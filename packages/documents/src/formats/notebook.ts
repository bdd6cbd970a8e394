import type { Code, RootContent } from 'mdast'
import { append } from '../document/append.js'
import { damaged, type Extraction, type Source } from '../document/extraction.js'
import { createTextLimit, requireReadable } from '../document/limits.js'
import { firstHeading, toTitle } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { toParagraphs } from '../document/text-blocks.js'
import { decodeSource } from './decode.js'
import { extractMarkdown } from './markdown.js'
import { toCode } from './source-code.js'

/** Maximum ratio of the length of a notebook to its text, besides pictures: most of it may be output for scripts. */
const maxMarkupRatio = 8
const what = 'a notebook'
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals begin with one
const colours = /\x1b\[[\d;]*m/g
/** The text form of an object that is shown as a picture, such as `<Figure size 640x480 with 1 Axes>`. */
const nameOfPicture = /^\s*<[^<>]*>\s*$/

/** Any value of a member in JSON. */
type Json = unknown

/** The context for reading the cells of a notebook. */
interface Reading {
  source: Source
  /** Language of the code. */
  language: string
  omissions: Omissions
}

/**
 * Reads a Jupyter notebook: its cells in order, Markdown as Markdown, code as code, and the texts of its results.
 */
export async function extract(source: Source): Promise<Extraction> {
  const notebook = parse(
    requireReadable(withoutPictures(decodeSource(source)), source, maxMarkupRatio),
  )
  const cells = cellsOf(notebook)
  if (cells === undefined) throw damaged(what, 'it has no cells')
  const omissions = createOmissions()
  const metadata = memberOf(notebook, 'metadata')
  const reading = { source, language: languageOf(metadata), omissions }
  const count = createTextLimit(source)
  const children: RootContent[] = []
  for (const [at, cell] of cells.entries()) {
    count(textOf(memberOf(cell, 'source') ?? memberOf(cell, 'input')))
    append(children, await readCell(cell, `cell ${at + 1}`, reading))
  }
  const root = { type: 'root' as const, children }
  const stated = memberOf(metadata, 'title')
  const title = toTitle(typeof stated === 'string' ? stated : undefined) ?? firstHeading(root)
  return { root, ...(title !== undefined && { title }), omissions: omissions.list() }
}

/** The member before the data of a picture in base64, which has no quotes. */
const pictureData = /"(?:image\/(?!svg)[\w.+-]+|application\/pdf|png|jpeg)"\s*:\s*"/g

/** Removes the pictures of results, megabytes that are not text; the rest shows that there is a picture. */
function withoutPictures(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const { 0: start, index } of text.matchAll(pictureData)) {
    const data = index + start.length
    const end = text.indexOf('"', data)
    if (index < from || end === -1 || text.charAt(end - 1) === '\\') continue
    parts.push(text.slice(from, data))
    from = end
  }
  return [...parts, text.slice(from)].join('')
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damaged(what, error)
  }
}

/** The cells, which notebooks of older programs have in sheets. */
function cellsOf(notebook: Json): Json[] | undefined {
  const cells = memberOf(notebook, 'cells')
  if (Array.isArray(cells)) return cells
  const sheets = memberOf(notebook, 'worksheets')
  return Array.isArray(sheets) ? sheets.flatMap((sheet) => cellsOf(sheet) ?? []) : undefined
}

function languageOf(metadata: Json): string {
  const stated =
    memberOf(memberOf(metadata, 'kernelspec'), 'language') ??
    memberOf(memberOf(metadata, 'language_info'), 'name')
  return typeof stated === 'string' && /^[\w+#.-]{1,30}$/.test(stated) ? stated.toLowerCase() : ''
}

async function readCell(cell: Json, part: string, reading: Reading): Promise<RootContent[]> {
  const { source, language, omissions } = reading
  const text = textOf(memberOf(cell, 'source') ?? memberOf(cell, 'input'))
  switch (memberOf(cell, 'cell_type')) {
    case 'markdown':
      return await readMarkdown(text, source, omissions)
    case 'heading': {
      const level = Number(memberOf(cell, 'level')) || 1
      return await readMarkdown(`${'#'.repeat(Math.min(level, 6))} ${text}`, source, omissions)
    }
    case 'code': {
      const outputs = memberOf(cell, 'outputs')
      const blocks: RootContent[] = toCode(text, language)
      for (const output of Array.isArray(outputs) ? outputs : []) {
        append(blocks, await readOutput(output, part, reading))
      }
      return blocks
    }
    default:
      return toParagraphs(text)
  }
}

async function readMarkdown(
  text: string,
  source: Source,
  omissions: Omissions,
): Promise<RootContent[]> {
  const { root, omissions: found = [] } = await extractMarkdown(text, source, {
    indentedCode: true,
  })
  omissions.include(found)
  return root.children
}

/** A result of a piece of code: a text, a table, an error or a picture. */
async function readOutput(
  output: Json,
  part: string,
  { source, omissions }: Reading,
): Promise<RootContent[]> {
  const kind = memberOf(output, 'output_type')
  if (kind === 'stream') return shown(textOf(memberOf(output, 'text')))
  if (kind === 'error' || kind === 'pyerr') {
    const [name, value] = [memberOf(output, 'ename'), memberOf(output, 'evalue')]
    return shown(`${textOf(name)}: ${textOf(value)}`)
  }
  // Older notebooks have the data of an output beside its kind.
  const data = memberOf(output, 'data') ?? output
  const types = typeof data === 'object' && data !== null ? Object.keys(data) : []
  const isPicture = types.some((type) => /^(?:image\/|png$|jpeg$|svg$)/.test(type))
  if (isPicture) omissions.add('picture_without_text', { part })
  const markdown = textOf(memberOf(data, 'text/markdown'))
  if (markdown !== '') return await readMarkdown(markdown, source, omissions)
  const html = textOf(memberOf(data, 'text/html') ?? memberOf(data, 'html'))
  if (/<table\b/i.test(html)) {
    const { fragmentToMdast } = await import('./html.js')
    return fragmentToMdast(html, omissions)
  }
  const text = textOf(memberOf(data, 'text/plain') ?? memberOf(data, 'text'))
  if (isPicture && nameOfPicture.test(text)) return []
  if (text !== '') return shown(text)
  const latex = textOf(memberOf(data, 'text/latex') ?? memberOf(data, 'latex'))
  return latex === '' ? [] : toParagraphs(latex)
}

function shown(text: string): Code[] {
  const value = text.replace(colours, '').replace(/^\n+|\s+$/g, '')
  return value === '' ? [] : [{ type: 'code', value }]
}

/** A text, which notebooks keep as a list of its lines. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : ''
}

function memberOf(value: Json, name: string): Json {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
