import { extname } from 'node:path'
import { decodeText, signatureOf } from './decode.js'
import { ExtractionError, type ExtractionFailure } from './extraction-error.js'
import type { Source } from './extractor.js'
import { FORMATS, type Format } from './formats.js'
import { refusalOf } from './refusals.js'
import { sniff } from './sniff.js'

/** Failures that a file of another format than it is called may end in. */
const DOUBTFUL: ReadonlySet<ExtractionFailure> = new Set(['damaged', 'binary', 'empty', 'no_text'])
/** Formats whose files never are text, so that text in one is of another format. */
const PACKED: ReadonlySet<string> = new Set([
  'Word (.docx)',
  'PowerPoint (.pptx)',
  'Excel (.xlsx)',
  'OpenDocument text (.odt)',
  'EPUB',
])
const LARGEST_JSON = 4 * 1024 * 1024
const SAMPLE = 65_536

/**
 * The reason why a file could not be read, once more: where the content is of another format than the
 * name and the media type say, this is the reason, whatever the reader stumbled over.
 *
 * @param stated the format by name and media type
 */
export function withTrueFormat(error: unknown, source: Source, stated: Format): unknown {
  if (!(error instanceof ExtractionError) || !DOUBTFUL.has(error.failure)) return error
  const finding = identify(source, stated)
  if (finding === undefined) return error
  return new ExtractionError(error.failure, finding, { cause: error })
}

function identify({ bytes, key }: Source, stated: Format): string | undefined {
  const type = sniff(bytes) ?? (isBinaryFormat(stated) ? textType(bytes) : webPage(bytes))
  const actual = FORMATS.find((format) => type !== undefined && format.contentTypes.includes(type))
  if (actual === stated) return undefined
  if (actual !== undefined) {
    const [contentType = ''] = actual.contentTypes
    const [extension = ''] = actual.extensions
    const isNamedSo = actual.extensions.includes(extname(key).toLowerCase())
    const how = isNamedSo ? `with the content type ${contentType}` : `as ${extension}`
    return `Its content is ${articled(actual.name)}, not ${stated.name}: upload it ${how}.`
  }
  const signature = signatureOf(bytes)
  // What begins like an archive may be a packed document of which a part is missing.
  if (signature?.type === undefined || signature.type === 'application/zip') return undefined
  const advice = refusalOf(signature.type, '')
  return advice && `Its content is ${signature.format}, not ${stated.name}. ${advice}`
}

function isBinaryFormat({ name }: Format): boolean {
  return name === 'PDF' || PACKED.has(name)
}

function textType(bytes: Uint8Array): string | undefined {
  const page = webPage(bytes)
  if (page !== undefined) return page
  const head = textOf(bytes.subarray(0, SAMPLE))?.trim() ?? ''
  if (head === '') return undefined
  return /^[[{]/.test(head) && isJson(bytes) ? 'application/json' : 'text/plain'
}

function webPage(bytes: Uint8Array): string | undefined {
  const head = textOf(bytes.subarray(0, 1024)) ?? ''
  return /^\s*<(?:!doctype html|html)\b/i.test(head) ? 'text/html' : undefined
}

function isJson(bytes: Uint8Array): boolean {
  if (bytes.byteLength > LARGEST_JSON) return false
  try {
    JSON.parse(decodeText(bytes))
    return true
  } catch {
    return false
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decodeText(bytes)
  } catch {
    return undefined
  }
}

/** The name of a format as a sentence has it. */
function articled(name: Format['name']): string {
  switch (name) {
    case 'PDF':
      return 'a PDF'
    case 'HTML':
      return 'a web page'
    case 'JSON and YAML':
      return 'JSON'
    default:
      return name
  }
}
