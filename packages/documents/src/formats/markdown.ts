import createParser, { type MarkdownIt, type Token } from 'markdown-it'
import { charsetOf, decodeText } from './decode.js'
import { ExtractionError } from './extraction-error.js'
import type { Extraction, Source } from './extractor.js'
import { splitFrontMatter } from './front-matter.js'
import { type HtmlReader, toBlocks } from './markdown-blocks.js'
import { requireReadable } from './requirements.js'
import { firstHeading } from './tree.js'

/** The parser leaves out what is nested deeper, so such a document is refused instead. */
const DEEPEST = 100

/** Addresses, marks and blank lines. */
const MARKUP = 2

/** Reads GitHub flavoured Markdown, with or without front matter. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeText(source.bytes, charsetOf(source.contentType))
  return await extractMarkdown(text, source, { indentedCode: true })
}

/** Reads Markdown that is characters already. */
export async function extractMarkdown(
  given: string,
  source: Source,
  options: { indentedCode: boolean },
): Promise<Extraction> {
  const { body, title: stated } = await splitFrontMatter(requireReadable(given, source, MARKUP))
  const markdown = parser()
  if (!options.indentedCode) markdown.disable('code')
  const tokens = markdown.parse(body, {})
  if (tokens.some(isTooDeep)) {
    throw new ExtractionError(
      'too_deep',
      `The Markdown nests its parts ${DEEPEST} levels deep. Flatten it and upload it again.`,
    )
  }
  const root = { type: 'root' as const, children: toBlocks(tokens, await htmlReader(tokens)) }
  const title = stated ?? firstHeading(root)
  return title === undefined ? { root } : { root, title }
}

function isTooDeep(token: Token): boolean {
  return token.level >= DEEPEST - 1 || token.children?.some(isTooDeep) === true
}

function parser(): MarkdownIt {
  const markdown = createParser({ html: true, maxNesting: DEEPEST })
  markdown.block.ruler.before('reference', 'footnote', (state, line, end, silent) => {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
    if (!/^\[\^[^\]\s]+\]:/.test(state.src.slice(start, start + 200))) return false
    // The last rule is the paragraph: without this, `[^1]: word` would vanish as a link target.
    return state.md.block.ruler.getRules('').at(-1)?.(state, line, end, silent) ?? false
  })
  return markdown
}

/** HTML takes as long to load as Markdown; most documents do without. */
async function htmlReader(tokens: readonly Token[]): Promise<HtmlReader> {
  if (!tokens.some((token) => token.type === 'html_block')) return () => []
  const { fragmentToMdast } = await import('./html.js')
  return fragmentToMdast
}
