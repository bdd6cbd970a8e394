import createParser, { type MarkdownIt, type Token } from 'markdown-it'
import { type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { requireLines, requirePieces, requireReadable } from '../document/limits.js'
import { markTitle } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { decodeSource } from './decode.js'
import { formulaToken, type HtmlReader, toBlocks } from './markdown-nodes.js'

/** The parser omits deeper parts, so such a document is refused instead. */
const maxDepth = 100

/** Maximum ratio of the length of a document to its text: addresses, marks and blank lines. */
const maxMarkupRatio = 2

/** Lines, and marks within lines, of a document: the parser makes several objects of each. */
const maxLines = 200_000
const maxMarks = 800_000

/** Reads GitHub flavoured Markdown, with or without front matter. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeSource(source)
  return await extractMarkdown(text, source, { indentedCode: true })
}

/** Reads Markdown that is decoded already. */
export async function extractMarkdown(
  given: string,
  source: Source,
  options: { indentedCode: boolean },
): Promise<Extraction> {
  const { body, title: stated } = await splitFrontMatter(
    requireReadable(given, source, maxMarkupRatio),
  )
  requireLines(body, maxLines)
  requirePieces(countMarks(body), 'marks such as * and |', maxMarks)
  const markdown = parser()
  if (!options.indentedCode) markdown.disable('code')
  const tokens = markdown.parse(body, {})
  if (tokens.some(isTooDeep)) {
    throw new ExtractionError(
      'too_deep',
      `The Markdown nests its parts ${maxDepth} levels deep. Flatten it and upload it again.`,
    )
  }
  const omissions = createOmissions()
  const render = (inner: readonly Token[]) =>
    markdown.renderer.render([...inner], markdown.options, {})
  const renderInline = (inner: readonly Token[]) =>
    markdown.renderer.renderInline([...inner], markdown.options, {})
  const html = await htmlReader(tokens, omissions)
  const children = toBlocks(tokens, { html, render, renderInline, omissions })
  const root = { type: 'root' as const, children }
  const title = markTitle(root, stated)
  return { root, ...(title !== undefined && { title }), omissions: omissions.list() }
}

const marks: ReadonlySet<number> = new Set([...'*_`[]|<~!&$'].map((mark) => mark.charCodeAt(0)))

function countMarks(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += 1) if (marks.has(text.charCodeAt(at))) count += 1
  return count
}

function isTooDeep(token: Token): boolean {
  return token.level >= maxDepth - 1 || token.children?.some(isTooDeep) === true
}

function parser(): MarkdownIt {
  const markdown = createParser({ html: true, maxNesting: maxDepth })
  keepFormulas(markdown)
  markdown.block.ruler.before('reference', 'footnote', (state, line, end, silent) => {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
    if (!/^\[\^[^\]\s]+\]:/.test(state.src.slice(start, start + 200))) return false
    // The last rule is the paragraph. Without this, `[^1]: word` would be dropped as a link definition.
    return state.md.block.ruler.getRules('').at(-1)?.(state, line, end, silent) ?? false
  })
  return markdown
}

/** The HTML parser is loaded only for documents that contain HTML. */
async function htmlReader(tokens: readonly Token[], omissions: Omissions): Promise<HtmlReader> {
  const isHtml = ({ type }: Token) => type === 'html_block' || type === 'html_inline'
  if (!tokens.some((token) => isHtml(token) || token.children?.some(isHtml) === true)) {
    return { blocks: () => [], phrases: () => [] }
  }
  const { fragmentToMdast, fragmentToPhrases } = await import('./html.js')
  return {
    blocks: (html) => fragmentToMdast(html, omissions),
    phrases: (html) => fragmentToPhrases(html, omissions),
  }
}

/** Characters of a formula within a line. */
const maxFormula = 2000

/** Keeps formulas as they are written: `\\`, `_` and `*` are no Markdown in them. */
function keepFormulas(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'formula', (state, silent) => {
    const end = endOfFormula(state.src, state.pos)
    if (end === undefined) return false
    if (!silent) state.push('text', '', 0).content = state.src.slice(state.pos, end)
    state.pos = end
    return true
  })
  markdown.block.ruler.before('code', formulaToken, (state, line, end, silent) => {
    const lineAt = (at: number) => state.src.slice(state.bMarks[at], state.eMarks[at]).trim()
    if (!lineAt(line).startsWith('$$') || (state.sCount[line] ?? 0) - state.blkIndent > 3) {
      return false
    }
    let last = line
    const isEnd = () => lineAt(last).endsWith('$$') && (last > line || lineAt(last).length > 3)
    while (last < end && lineAt(last) !== '' && !isEnd()) last += 1
    if (last >= end || lineAt(last) === '') return false
    if (silent) return true
    const token = state.push(formulaToken, '', 0)
    token.content = state.getLines(line, last + 1, state.blkIndent, false)
    state.line = last + 1
    return true
  })
  markdown.renderer.rules[formulaToken] = (tokens, at) =>
    `<p>${markdown.utils.escapeHtml(tokens[at]?.content ?? '')}</p>`
}

/** The end of a formula between dollars; sums of money and variables of programs are none. */
function endOfFormula(text: string, start: number): number | undefined {
  if (text.charAt(start) !== '$') return undefined
  const mark = text.startsWith('$$', start) ? '$$' : '$'
  const from = start + mark.length
  let end = text.indexOf(mark, from)
  while (end !== -1 && text.charAt(end - 1) === '\\') end = text.indexOf(mark, end + 1)
  if (end === -1 || end === from || end - from > maxFormula) return undefined
  const inner = text.slice(from, end)
  if (inner.includes('`')) return undefined
  if (mark === '$' && (/^\s|\s$/.test(inner) || /\d/.test(text.charAt(end + 1)))) return undefined
  return end + mark.length
}

/** A longer block is content that happens to begin with a rule. */
const maxFrontMatterLength = 65_536
const yamlBlock = /^---[ \t]*\n(?:([\s\S]*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)/
const tomlBlock = /^\+\+\+[ \t]*\n(?:([\s\S]*?)\n)?\+\+\+[ \t]*(?:\n|$)/
const tomlTitlePattern = /^title[ \t]*=[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')/m

/** A document and the title in its front matter. */
interface FrontMatter {
  /** The document without its front matter. */
  body: string
  title?: string
}

/** Removes the YAML or TOML block at the beginning of a document, and keeps only its title. */
async function splitFrontMatter(text: string): Promise<FrontMatter> {
  const head = text.slice(0, maxFrontMatterLength)
  const toml = tomlBlock.exec(head)
  if (toml !== null) {
    return { body: text.slice(toml[0].length), ...titled(tomlTitle(toml[1] ?? '')) }
  }
  const yaml = yamlBlock.exec(head)
  const fields = yaml === null ? undefined : await yamlFields(yaml[1] ?? '')
  if (yaml === null || fields === undefined) return { body: text }
  return { body: text.slice(yaml[0].length), ...titled(fields.title) }
}

/** The fields of a YAML mapping; undefined if the block is prose between two rules. */
async function yamlFields(block: string): Promise<{ title?: unknown } | undefined> {
  const { isMap, parseDocument } = await import('yaml')
  const document = parseDocument(block, { logLevel: 'silent' })
  // An invalid mapping is not content either.
  if (document.errors.length > 0) return /^[\w.-]+[ \t]*:/.test(block) ? {} : undefined
  if (document.contents === null) return {}
  return isMap(document.contents) ? { title: document.get('title') } : undefined
}

function tomlTitle(block: string): string | undefined {
  const match = tomlTitlePattern.exec(block)
  return match?.[1]?.replace(/\\(["\\])/g, '$1') ?? match?.[2]
}

function titled(title: unknown): { title?: string } {
  if (typeof title !== 'string' && typeof title !== 'number') return {}
  const text = String(title).replace(/\s+/g, ' ').trim()
  return text === '' ? {} : { title: text }
}
