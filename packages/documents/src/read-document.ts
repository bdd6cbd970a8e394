import { extname } from 'node:path'
import { chunkDocument } from './chunking/chunk-document.js'
import type { ChunkOptions, Passage } from './chunking/passage.js'
import {
  damaged,
  type Extraction,
  ExtractionError,
  type InnerFiles,
  isStackOverflow,
  type Source,
} from './document/extraction.js'
import { requireMostlyRead, requireUsable } from './document/limits.js'
import { createOmissions, type Omission, type Reading } from './document/omissions.js'
import { type Format, refusalAdvice, sniff, supportedFormats } from './formats/formats.js'
import { addNameTitle } from './text/file-name.js'

/** A document as passages. */
export interface ReadDocument {
  /** Title of the document, if it states one. */
  title?: string
  /** Number of pages or slides, in formats that have any. */
  pages?: number
  /** In order; never empty. The name of the file stands above them if the document states no title. */
  passages: Passage[]
  /** Omissions, one of each kind. */
  omissions: Omission[]
  /** As in `Reading`. */
  parts?: Reading['parts']
}

/**
 * Reads a file of any supported format and cuts it into passages.
 *
 * @param onExtracted called between reading and cutting
 * @throws ExtractionError if the file cannot be indexed
 */
export async function readDocument(
  source: Source,
  options: ChunkOptions,
  onExtracted?: () => void,
): Promise<ReadDocument> {
  try {
    const extraction = await extract(source)
    onExtracted?.()
    const { title, pages, parts, omissions = [] } = extraction
    if (source.allowPartial !== true) requireMostlyRead({ omissions, ...(parts && { parts }) })
    return {
      ...(title !== undefined && { title }),
      ...(pages !== undefined && { pages }),
      ...(parts !== undefined && { parts }),
      omissions,
      passages: addNameTitle(chunkDocument(extraction, options), source.key),
    }
  } catch (error) {
    throw toRefusal(error) ?? error
  }
}

/**
 * The refusal of a document that an error stands for; undefined if the document is not the cause.
 * All parsers are bounded before they recurse; should one run out of stack all the same, it ends here.
 */
export function toRefusal(error: unknown): ExtractionError | undefined {
  if (error instanceof ExtractionError) return error
  if (!isStackOverflow(error)) return undefined
  return new ExtractionError(
    'too_deep',
    'The document nests its parts too deeply. Flatten it and upload it again.',
    { cause: error },
  )
}

/** Media types that say nothing: the extension decides, and without one the content is tried as text. */
const vagueTypes: ReadonlySet<string> = new Set([
  '',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
])

/** Media types that programs also use for other formats, so that a known extension takes precedence. */
const looseTypes: ReadonlySet<string> = new Set([
  ...vagueTypes,
  'application/zip',
  'application/x-zip-compressed',
  'application/vnd.ms-excel',
  'application/xml',
  'text/xml',
])

/** Media types of the `text` family whose source is not readable prose. */
const markupTypes: ReadonlySet<string> = new Set(['text/rtf', 'text/richtext'])

/** Advice for the author of an empty file, where its format has no other. */
const writeAndRetry = 'Upload it again once it has some.'

/**
 * Reads a file of any supported format.
 *
 * @throws ExtractionError if the format is not supported or the content has no text to index
 * @throws RangeError if a parser runs out of stack
 */
export async function extract(source: Source): Promise<Extraction> {
  const inner = countInner(source)
  const stated = formatOf(source.contentType, source.key)
  const format = stated.name === 'plain text' ? (sniffFormat(source) ?? stated) : stated
  const extractor = await format.load()
  const omissions = createOmissions()
  try {
    const extraction = await extractor.extract({ readInner: extract, ...source, inner, omissions })
    omissions.include(extraction.omissions ?? [])
    const usable = requireUsable(extraction, source, format.adviceWhenEmpty ?? writeAndRetry)
    return { ...usable, omissions: omissions.list() }
  } catch (error) {
    if (isBinary(error) && !isKnown(source)) throw unsupported(source)
    // Loaded on demand: most files have the format that they claim.
    const { explainMislabelled } = await import('./formats/mislabelled.js')
    throw explainMislabelled(asExtractionError(error, format), source, format)
  }
}

/** Files inside of one document that are read, on all levels together. */
const maxInnerFiles = 200

/**
 * Counts the files inside of a document: each of them may have some itself, and a few kilobytes name many.
 *
 * @throws ExtractionError if there are too many
 */
function countInner({ inner = { count: 0, unpackedBytes: 0 }, level = 0 }: Source): InnerFiles {
  if (level > 0) inner.count += 1
  if (inner.count <= maxInnerFiles) return inner
  throw new ExtractionError(
    'too_large',
    `The document has more than ${maxInnerFiles} embedded files. Upload them separately.`,
  )
}

/** A reader does the same with the same bytes every time, so the file is the cause of every error. */
function asExtractionError(error: unknown, format: Format): unknown {
  return error instanceof ExtractionError || isStackOverflow(error)
    ? error
    : damaged(format.name, error)
}

/**
 * The format of a file by its media type, or by the extension of its key where the type is vague. A type may be the
 * guess of a program that knows the extension only: `.ts` is a film for one and source code for another. Therefore only
 * extensions of binary formats are refused; every other file is plain text until its content proves to be binary.
 *
 * @throws ExtractionError if it cannot be indexed
 */
export function formatOf(contentType: string, key: string): Format {
  const { type, extension } = typeOf({ contentType, key })
  const byType =
    supportedFormats.find((format) => format.contentTypes.includes(type)) ?? bySuffix(type)
  const byExtension = supportedFormats.find((format) => format.extensions.includes(extension))
  const isLoose =
    looseTypes.has(type) ||
    refusalAdvice(type, '') !== undefined ||
    // A notebook is JSON too.
    (type === 'application/json' && extension === '.ipynb')
  const format = isLoose ? (byExtension ?? byType) : (byType ?? byExtension)
  if (format !== undefined && !(format.name === 'plain text' && isRefused(extension))) return format
  // Without an extension, nobody guessed.
  const isRefusedType = extension === '' && refusalAdvice(type, '') !== undefined
  if (isRefused(extension) || isRefusedType || markupTypes.has(type)) {
    throw unsupported({ contentType, key })
  }
  return formatNamed('plain text')
}

function typeOf({ contentType, key }: Pick<Source, 'contentType' | 'key'>): {
  type: string
  extension: string
} {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  return { type, extension: extname(key).toLowerCase() }
}

/** Whether the name or the type of a file says that it is text. */
function isKnown(source: Source): boolean {
  const { type, extension } = typeOf(source)
  if (refusalAdvice(type, '') !== undefined) return false
  return (
    vagueTypes.has(type) ||
    type.startsWith('text/') ||
    supportedFormats.some((format) => format.contentTypes.includes(type)) ||
    supportedFormats.some((format) => format.extensions.includes(extension)) ||
    bySuffix(type) !== undefined
  )
}

function isBinary(error: unknown): boolean {
  return error instanceof ExtractionError && error.failure === 'binary'
}

/** `application/problem+json`, `application/rss+xml` and the like. */
function bySuffix(type: string): Format | undefined {
  if (/\+xml$/.test(type)) return formatNamed('XML')
  return /\+(?:json|yaml)$/.test(type) ? formatNamed('JSON and YAML') : undefined
}

function formatNamed(name: Format['name']): Format {
  const format = supportedFormats.find((candidate) => candidate.name === name)
  if (format === undefined) throw new Error(`There is no format ${name}`)
  return format
}

/** The format of a file that programs uploaded without an informative name and type. */
function sniffFormat(source: Source): Format | undefined {
  const type = sniff(source.bytes)
  return supportedFormats.find((format) => type !== undefined && format.contentTypes.includes(type))
}

function isRefused(extension: string): boolean {
  return refusalAdvice('', extension) !== undefined
}

function unsupported(source: Pick<Source, 'contentType' | 'key'>): ExtractionError {
  const { type, extension } = typeOf(source)
  const what = extension === '' ? type : `${type} (${extension})`
  const advice = refusalAdvice(type, extension)
  if (advice !== undefined) {
    return new ExtractionError('unsupported', `Files of type ${what} cannot be indexed. ${advice}`)
  }
  const names = supportedFormats.map((format) => format.name)
  const supported = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return new ExtractionError(
    'unsupported',
    `Files of type ${what} cannot be indexed, only ${supported}. ` +
      'Convert the document to one of these and upload it again.',
  )
}
