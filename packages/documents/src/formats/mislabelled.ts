import { extname } from 'node:path'
import { ExtractionError, type ExtractionFailure, type Source } from '../document/extraction.js'
import { decodeText, signatureOf } from './decode.js'
import { type Format, refusalAdvice, sniff, supportedFormats } from './formats.js'

/** Failures that may have the cause that the file is of another format than stated. */
const ambiguousFailures: ReadonlySet<ExtractionFailure> = new Set([
  'damaged',
  'binary',
  'empty',
  'no_text',
])
/** Formats that are ZIP archives, so that a text cannot be one of them. */
const packedFormats: ReadonlySet<string> = new Set([
  'Word (.docx)',
  'PowerPoint (.pptx)',
  'Excel (.xlsx)',
  'OpenDocument text (.odt)',
  'OpenDocument spreadsheet (.ods)',
  'OpenDocument slides (.odp)',
  'EPUB',
])
/** Larger contents are not parsed only to recognise JSON. */
const maxJson = 4 * 1024 * 1024
/** Bytes that are examined to recognise text. */
const sampleSize = 65_536

/**
 * The error to report for a file that could not be read. If the content is of another format than the name
 * and the media type state, that is the error, and not the fault that the extractor found.
 *
 * @param stated the format by name and media type
 */
export function explainMislabelled(error: unknown, source: Source, stated: Format): unknown {
  if (!(error instanceof ExtractionError) || !ambiguousFailures.has(error.failure)) return error
  const explanation = describeActual(source, stated)
  if (explanation === undefined) return error
  return new ExtractionError(error.failure, explanation, { cause: error })
}

function describeActual({ bytes, key }: Source, stated: Format): string | undefined {
  const type = sniff(bytes) ?? (isBinaryFormat(stated) ? textType(bytes) : webPage(bytes))
  const actual = supportedFormats.find(
    (format) => type !== undefined && format.contentTypes.includes(type),
  )
  if (actual === stated) return undefined
  if (actual !== undefined) {
    const [contentType = ''] = actual.contentTypes
    const [extension = ''] = actual.extensions
    const isNamedSo = actual.extensions.includes(extname(key).toLowerCase())
    const how = isNamedSo ? `with the content type ${contentType}` : `as ${extension}`
    return `Its content is ${withArticle(actual.name)}, not ${stated.name}: upload it ${how}.`
  }
  const signature = signatureOf(bytes)
  // A ZIP archive may be a document of the stated format with a missing part.
  if (signature?.type === undefined || signature.type === 'application/zip') return undefined
  const advice = refusalAdvice(signature.type, '')
  return advice && `Its content is ${signature.format}, not ${stated.name}. ${advice}`
}

function isBinaryFormat({ name }: Format): boolean {
  return name === 'PDF' || packedFormats.has(name)
}

function textType(bytes: Uint8Array): string | undefined {
  const page = webPage(bytes)
  if (page !== undefined) return page
  const head = textOf(bytes.subarray(0, sampleSize))?.trim() ?? ''
  if (head === '') return undefined
  return /^[[{]/.test(head) && isJson(bytes) ? 'application/json' : 'text/plain'
}

function webPage(bytes: Uint8Array): string | undefined {
  const head = textOf(bytes.subarray(0, 1024)) ?? ''
  return /^\s*<(?:!doctype html|html)\b/i.test(head) ? 'text/html' : undefined
}

function isJson(bytes: Uint8Array): boolean {
  if (bytes.byteLength > maxJson) return false
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

/** The name of a format as it stands in a sentence. */
function withArticle(name: Format['name']): string {
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
