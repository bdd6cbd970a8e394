import type { Nodes } from 'mdast'
import { describeOmission } from './describe-omission.js'
import { type Extraction, ExtractionError, type Source } from './extraction.js'
import { omissionTexts, type Reading } from './omissions.js'
import { shorten, storable } from './storable.js'

/** Chunking walks the tree recursively and relies on this bound. */
const maxDepth = 600

/** Maximum ratio of the length of a document to its text, because of blanks that chunking drops. */
const maxBlankRatio = 2

/** Introduces an embedded image or font: megabytes that are not text. */
const embeddedMarker = ';base64,'
const base64Codes: ReadonlySet<string> = new Set(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=',
)

/**
 * Bounds the source of a document before it is parsed, which takes time and memory in proportion to its length.
 *
 * @param markup maximum ratio of the length of a source of this format to its text, because of its markup
 * @returns the text without embedded data
 * @throws ExtractionError if it is so long that its text must be too long
 */
export function requireReadable(text: string, source: Source, markup: number): string {
  const readable = withoutEmbeddedData(text)
  const limit = (source.maxLength ?? Number.POSITIVE_INFINITY) * markup
  if (readable.length <= limit) return readable
  throw new ExtractionError(
    'too_large',
    `The document has ${inDigits(readable.length)} characters; at most ${inDigits(limit)} can be read. ` +
      'Split it into several files.',
  )
}

/**
 * Parts of a document that are read. However short they are, each takes memory: more of them, with the text that a
 * document may have, need more than the default memory of a reader.
 */
const maxPieces = 600_000

/**
 * Refuses a document of too many parts before they take the memory of the reader.
 *
 * @param name what is counted, in the plural, such as `elements`
 * @throws ExtractionError if there are more than the limit
 */
export function requirePieces(count: number, name: string, limit = maxPieces): void {
  if (count <= limit) return
  throw new ExtractionError(
    'too_large',
    `The document has more than ${inDigits(limit)} ${name}, the maximum. Split it into several files.`,
  )
}

/** As {@link requirePieces}, for the lines of a text; empty ones do not count. */
export function requireLines(text: string, limit = maxPieces): void {
  let count = 0
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    if (end > start) count += 1
    start = end + 1
  }
  requirePieces(start < text.length ? count + 1 : count, 'lines', limit)
}

/** A number for people, such as `6,000,000`. */
function inDigits(value: number): string {
  return value.toLocaleString('en')
}

/**
 * Returns a document that has content, is not nested too deeply and not much longer than the maximum that can be indexed.
 *
 * @param adviceWhenEmpty advice for its author if it has no text
 * @throws ExtractionError if it is empty, nested too deeply or too long for chunking, which joins its texts
 */
export function requireUsable(
  extraction: Extraction,
  source: Source,
  adviceWhenEmpty: string,
): Extraction {
  let empty = true
  let length = 0
  const limit = (source.maxLength ?? Number.POSITIVE_INFINITY) * maxBlankRatio
  let level: Nodes[] = [extraction.root]
  // Level by level: this check protects the recursive walks that follow.
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) {
      throw new ExtractionError(
        'too_deep',
        `The document nests its parts more than ${maxDepth} levels deep. Flatten it and upload it again.`,
      )
    }
    const next: Nodes[] = []
    for (const node of level) {
      // Most nodes are texts: asking for the type is faster than for each property.
      if (node.type === 'text') {
        node.value = storable(node.value)
        empty &&= node.value.trim() === ''
        // Parts may occur several times, such as a note that a whole book refers to.
        length += node.value.length
        continue
      }
      clean(node)
      empty &&= !hasContent(node)
      if ('value' in node) length += node.value.length
      if ('children' in node) for (const child of node.children) next.push(child)
    }
    if (length > limit) throw tooLong(limit)
    level = next
  }
  const { omissions = [], parts, title } = extraction
  if (!empty) return title === undefined ? extraction : { ...extraction, title: storable(title) }
  throw new ExtractionError('empty', `The file contains no text. ${adviceWhenEmpty}`, {
    reading: { omissions, ...(parts && { parts }) },
  })
}

/** Kinds of omissions that a refusal names, so that people can read it. */
const namedKinds = 3
/** Maximum characters about each of them: files may choose the names of their parts. */
const maxDescription = 300

/**
 * Refuses a document of which more than half could not be read: search would find the rest, and nobody would know that
 * most of it is missing.
 *
 * @throws ExtractionError with the omissions and advice
 */
export function requireMostlyRead({ omissions, parts }: Reading): void {
  if (parts === undefined || parts.unread * 2 <= parts.count) return
  const places = omissions.flatMap((each) => each.places)
  const unit = (['page', 'slide', 'sheet'] as const).find((name) => places.some((at) => at[name]))
  const most = omissions.toSorted((a, b) => b.count - a.count).slice(0, namedKinds)
  const what = most.map((each) => shorten(describeOmission(each), maxDescription)).join('; ')
  const advice = most.map(({ kind }) => omissionTexts[kind].advice)
  const sentences = [
    `${parts.unread} of ${parts.count} ${unit ?? 'part'}s could not be read${what && ` (${what})`}.`,
    ...new Set(advice),
    'To index the rest nevertheless, index it again and allow that: “Index what can be read” in the dashboard, `--allow-partial` of `botstead reindex`, or `parsing.allowPartial` in the `indexing.configuration` of `reindexFile`.',
  ]
  throw new ExtractionError('mostly_unread', sentences.join(' '), {
    reading: { omissions, parts },
  })
}

/** Removes characters that cannot be stored from the texts of a node. */
function clean(node: Nodes): void {
  if ('value' in node) node.value = storable(node.value)
  if ('url' in node) node.url = storable(node.url)
  if ('alt' in node && typeof node.alt === 'string') node.alt = storable(node.alt)
  if ('identifier' in node) node.identifier = storable(node.identifier)
  if (node.type === 'code' && typeof node.lang === 'string') node.lang = storable(node.lang)
}

function hasContent(node: Nodes): boolean {
  if (node.type === 'image') return true
  return 'value' in node && node.type !== 'html' && node.value.trim() !== ''
}

/** Not by a regular expression, which runs out of stack on some megabytes of data. */
function withoutEmbeddedData(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(embeddedMarker); at !== -1; at = text.indexOf(embeddedMarker, from)) {
    const data = at + embeddedMarker.length
    parts.push(text.slice(from, data))
    from = data
    while (base64Codes.has(text.charAt(from))) from += 1
  }
  return [...parts, text.slice(from)].join('')
}

/**
 * Refuses a document with too many pages, before the first page is read.
 *
 * @param name name of the pages in the format, in the plural, such as `slides`
 */
export function requirePages(count: number, source: Source, name: string): void {
  const limit = source.maxPages ?? Number.POSITIVE_INFINITY
  if (count <= limit) return
  throw new ExtractionError(
    'too_many_pages',
    `The document has ${inDigits(count)} ${name}; at most ${inDigits(limit)} can be indexed. ` +
      'Split it into several files, or raise BOTSTEAD_INDEXING_PAGES.',
  )
}

/** Characters that a value of a table takes besides its own: a separator with spaces. */
export const separatorLength = 2

/**
 * Counts text while it is read, so that reading stops as soon as there is too much to index.
 *
 * @param more characters that each text takes besides its own
 */
export function createTextLimit(source: Source, more = 0): (text: string) => void {
  const count = createLengthLimit(source)
  return (text) => count(text.length + more)
}

/** As {@link createTextLimit}, for lengths. */
export function createLengthLimit(source: Source): (length: number) => void {
  const limit = source.maxLength ?? Number.POSITIVE_INFINITY
  let length = 0
  return (more) => {
    length += more
    if (length <= limit) return
    throw tooLong(limit)
  }
}

function tooLong(limit: number): ExtractionError {
  return new ExtractionError(
    'too_large',
    `The document has more than ${inDigits(limit)} characters of text, the maximum. ` +
      'Split it into several files, or raise BOTSTEAD_MAX_PASSAGES_PER_FILE.',
  )
}
