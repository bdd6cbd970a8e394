import { extname } from 'node:path'
import { damaged } from './damaged.js'
import { ExtractionError } from './extraction-error.js'
import type { Extraction, Source } from './extractor.js'
import { FORMATS, type Format } from './formats.js'
import { withTrueFormat } from './mistaken.js'
import { refusalOf } from './refusals.js'
import { requireUsable } from './requirements.js'
import { sniff } from './sniff.js'

const PLAIN_TEXT = 'text/plain'

/** Media types that say nothing: the extension decides, and without one the content is tried as text. */
const VAGUE: ReadonlySet<string> = new Set([
  '',
  PLAIN_TEXT,
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
])

/** Media types that programs also give to other formats, so that a known extension knows better. */
const LOOSE: ReadonlySet<string> = new Set([
  ...VAGUE,
  'application/zip',
  'application/x-zip-compressed',
  'application/vnd.ms-excel',
  'application/xml',
  'text/xml',
])

/** What helps with an empty file of most formats. */
const WRITE_AND_RETRY = 'Upload it again once it has some.'

/** Other types of the `text` family that are not prose as they stand. */
const MARKED_UP: ReadonlySet<string> = new Set(['text/rtf', 'text/richtext', 'text/xml'])

/**
 * Reads a file of any supported format.
 *
 * @throws ExtractionError if the format is not supported or the content has no text to index
 */
export async function extract(source: Source): Promise<Extraction> {
  const stated = formatOf(source.contentType, source.key)
  const format = stated.name === 'plain text' ? (sniffed(source) ?? stated) : stated
  const extractor = await format.load()
  try {
    return requireUsable(await extractor.extract(source), format.adviceWhenEmpty ?? WRITE_AND_RETRY)
  } catch (error) {
    throw withTrueFormat(toReason(error, format), source, format)
  }
}

/**
 * A reader does the same with the same bytes every time, so whatever it stumbles over is of the file and
 * will not be better at the next try. Running out of stack is told by who called it.
 */
function toReason(error: unknown, format: Format): unknown {
  if (error instanceof ExtractionError) return error
  if (error instanceof RangeError && /call stack/i.test(error.message)) return error
  return damaged(format.name, error)
}

/**
 * The format of a file by its media type, or by the extension of its key where the type is vague.
 *
 * @throws ExtractionError if it cannot be indexed
 */
export function formatOf(contentType: string, key: string): Format {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const extension = extname(key).toLowerCase()
  const byType = FORMATS.find((format) => format.contentTypes.includes(type)) ?? bySuffix(type)
  const byExtension = FORMATS.find((format) => format.extensions.includes(extension))
  const format = LOOSE.has(type) ? (byExtension ?? byType) : byType
  if (format !== undefined && !(format.name === 'plain text' && isRefused(extension))) return format
  const readable = VAGUE.has(type) || (type.startsWith('text/') && !MARKED_UP.has(type))
  if (readable && !isRefused(extension)) return named('plain text')
  throw unsupported(type, extension)
}

/** `application/problem+json` and the like. */
function bySuffix(type: string): Format | undefined {
  return /\+(?:json|yaml)$/.test(type) ? named('JSON and YAML') : undefined
}

function named(name: Format['name']): Format {
  const format = FORMATS.find((candidate) => candidate.name === name)
  if (format === undefined) throw new Error(`There is no format ${name}`)
  return format
}

/** Files without a telling name and type, as programs upload them. */
function sniffed(source: Source): Format | undefined {
  const type = sniff(source.bytes)
  return FORMATS.find((format) => type !== undefined && format.contentTypes.includes(type))
}

function isRefused(extension: string): boolean {
  return refusalOf('', extension) !== undefined
}

function unsupported(type: string, extension: string): ExtractionError {
  const what = extension === '' ? type : `${type} (${extension})`
  const advice = refusalOf(type, extension)
  if (advice !== undefined) {
    return new ExtractionError('unsupported', `Files of type ${what} cannot be indexed. ${advice}`)
  }
  const names = FORMATS.map((format) => format.name)
  const supported = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return new ExtractionError(
    'unsupported',
    `Files of type ${what} cannot be indexed, only ${supported}. ` +
      'Convert the document to one of these and upload it again.',
  )
}
