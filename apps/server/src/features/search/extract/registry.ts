import { extname } from 'node:path'
import { ExtractionError } from './extraction-error.js'
import type { Extraction, Extractor, Source } from './extractor.js'
import { requireUsable } from './requirements.js'

interface Format {
  name: string
  contentTypes: readonly string[]
  /** With the dot, lower case. */
  extensions: readonly string[]
  /** Loads the reader, so that a worker holds only the parsers it has needed. */
  load(): Promise<Extractor>
}

/** Every format that can be indexed. A new format is one module and one entry here. */
const FORMATS: readonly Format[] = [
  {
    name: 'Markdown',
    contentTypes: ['text/markdown', 'text/x-markdown', 'text/x-web-markdown'],
    extensions: ['.md', '.markdown', '.mdown', '.mkd', '.mkdn', '.mdwn'],
    load: () => import('./markdown.js'),
  },
  {
    name: 'HTML',
    contentTypes: ['text/html', 'application/xhtml+xml'],
    extensions: ['.html', '.htm', '.xhtml'],
    load: () => import('./html.js'),
  },
  {
    name: 'plain text',
    contentTypes: ['text/plain'],
    extensions: ['.txt', '.text', '.log'],
    load: () => import('./plain-text.js'),
  },
]
const PLAIN_TEXT = 'text/plain'

/** Media types that say nothing: the extension decides, and without one the content is tried as text. */
const VAGUE: ReadonlySet<string> = new Set([
  '',
  PLAIN_TEXT,
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
])

/** Other types of the `text` family that are not prose as they stand. */
const MARKED_UP: ReadonlySet<string> = new Set(['text/rtf', 'text/richtext', 'text/xml'])

/**
 * Reads a file of any supported format.
 *
 * @throws ExtractionError if the format is not supported or the content has no text to index
 */
export async function extract(source: Source): Promise<Extraction> {
  const extractor = await formatOf(source.contentType, source.key).load()
  return requireUsable(await extractor.extract(source))
}

/**
 * The format of a file by its media type, or by the extension of its key where the type is vague.
 *
 * @throws ExtractionError if it cannot be indexed
 */
export function formatOf(contentType: string, key: string): Format {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const extension = extname(key).toLowerCase()
  const byType = FORMATS.find((format) => format.contentTypes.includes(type))
  const byExtension = FORMATS.find((format) => format.extensions.includes(extension))
  const format = VAGUE.has(type) ? (byExtension ?? byType) : byType
  if (format !== undefined) return format
  const readable = VAGUE.has(type) || (type.startsWith('text/') && !MARKED_UP.has(type))
  const text = FORMATS.find((candidate) => candidate.contentTypes.includes(PLAIN_TEXT))
  if (readable && text !== undefined) return text
  throw unsupported(type, extension)
}

function unsupported(type: string, extension: string): ExtractionError {
  const names = FORMATS.map((format) => format.name)
  const supported = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  const what = extension === '' ? type : `${type} (${extension})`
  return new ExtractionError(
    'unsupported',
    `Files of type ${what} cannot be indexed, only ${supported}. ` +
      'Convert the document to one of these and upload it again.',
  )
}
