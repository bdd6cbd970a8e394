import type { Nodes } from 'mdast'
import { ExtractionError } from './extraction-error.js'
import type { Extraction, Source } from './extractor.js'

/** Everything after extraction walks the tree by recursion and may rely on this bound. */
const DEEPEST = 600

/** Begins an image or a font inside a document: megabytes that no reader sees. */
const EMBEDDED = ';base64,'
const BASE64: ReadonlySet<string> = new Set(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=',
)

/**
 * Prepares the source of a document for a parser, whose time and memory grow with its length.
 *
 * @param markup how many times longer than its text a source of this format may be
 * @returns the text without embedded data
 * @throws ExtractionError if its text cannot but be too long
 */
export function requireReadable(text: string, source: Source, markup: number): string {
  const readable = withoutEmbeddedData(text)
  const limit = (source.maximumLength ?? Number.POSITIVE_INFINITY) * markup
  if (readable.length <= limit) return readable
  throw new ExtractionError(
    'too_large',
    `The document has ${readable.length} characters; at most ${limit} can be read. Split it into several files.`,
  )
}

/**
 * Lets a document pass that has content and is not nested without bound.
 *
 * @param adviceWhenEmpty what its author may do when it has no text
 * @throws ExtractionError if it is empty or nested too deeply
 */
export function requireUsable(extraction: Extraction, adviceWhenEmpty: string): Extraction {
  let empty = true
  let level: Nodes[] = [extraction.root]
  // Level by level instead of by recursion, which is what this protects.
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) {
      throw new ExtractionError(
        'too_deep',
        `The document nests its parts more than ${DEEPEST} levels deep. Flatten it and upload it again.`,
      )
    }
    empty &&= !level.some(hasContent)
    level = level.flatMap((node) => ('children' in node ? node.children : []))
  }
  if (!empty) return extraction
  throw new ExtractionError('empty', `The file contains no text. ${adviceWhenEmpty}`)
}

function hasContent(node: Nodes): boolean {
  if (node.type === 'image') return true
  return 'value' in node && node.type !== 'html' && node.value.trim() !== ''
}

/** By hand: a regular expression runs out of stack on data of some megabytes. */
function withoutEmbeddedData(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(EMBEDDED); at !== -1; at = text.indexOf(EMBEDDED, from)) {
    const data = at + EMBEDDED.length
    parts.push(text.slice(from, data))
    from = data
    while (BASE64.has(text.charAt(from))) from += 1
  }
  return [...parts, text.slice(from)].join('')
}
