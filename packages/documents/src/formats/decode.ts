import { isUtf8 } from 'node:buffer'
import { analyse } from 'chardet'
import { ExtractionError } from '../document/extraction.js'

/** Bytes or characters that are examined; more would not change the result. */
const sampleSize = 65_536
/** Share of characters that do not occur in text above which a content counts as binary. */
const binaryShare = 0.02
/** Number of such characters that is allowed in any text. */
const harmlessCount = 3
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const nonTextCharacters = /(?![\t\n\v\f\r\x1b\x85])[\p{Cc}\p{Cn}\p{Co}\ufffd]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: such a character is what it looks for
const overstruckCharacter = /[^\n\x08]\x08/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: such a character is what it looks for
const colourCodes = /\x1b\[[\d;]{0,20}m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const controlCharacters = /[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]/g
const lineEndPattern = /\r\n?|\f|\x85|\u2028|\u2029/g

/** The characters of windows-1252 from 0x80 on, where latin1 has control characters. */
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

interface Signature {
  bytes: string
  /** Name with its article. */
  format: string
  /** Media type, if the bytes determine it. */
  type?: string
}

/** First bytes of formats that are often uploaded under a wrong name. */
const signatures: readonly Signature[] = [
  { bytes: '%PDF-', format: 'a PDF' },
  { bytes: 'PK\x03\x04', format: 'a ZIP archive or an Office document', type: 'application/zip' },
  { bytes: '\xd0\xcf\x11\xe0', format: 'an old Office document' },
  { bytes: '\x1f\x8b', format: 'a gzip archive', type: 'application/gzip' },
  { bytes: '\x89PNG', format: 'a PNG image', type: 'image/png' },
  { bytes: '\xff\xd8\xff', format: 'a JPEG image', type: 'image/jpeg' },
  { bytes: 'GIF8', format: 'a GIF image', type: 'image/gif' },
  { bytes: '{\\rtf', format: 'a rich text document', type: 'text/rtf' },
]

/**
 * Decodes a text file: by its byte order mark, else by the charset it declares, else as UTF-16 if
 * only every second byte is ever zero, else as UTF-8, else by the frequency of bytes, else as
 * windows-1252, which includes latin1. Line ends become `\n`; control characters are removed.
 *
 * @param declared charset named by the media type or the document; wrong names are ignored
 * @throws ExtractionError if the bytes are not text
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const known = signatureOf(bytes)
  if (known !== undefined) throw binary(`The content is ${known.format}, not text`)

  const decoded =
    decodeMarked(bytes) ??
    decodeDeclared(bytes, declared) ??
    decodeUtf16(bytes) ??
    decodeUtf8(bytes) ??
    decodeDetected(bytes) ??
    decodeWindows1252(bytes)
  const text = withoutOverstrike(decoded)
  const sample = text.slice(0, sampleSize)
  if (count(sample, nonTextCharacters) > Math.max(harmlessCount, sample.length * binaryShare)) {
    throw binary('The content is binary data, not text')
  }
  return text.replace(lineEndPattern, '\n').replace(controlCharacters, '')
}

/** A format that is not text, recognised by the first bytes of a content. */
export function signatureOf(bytes: Uint8Array): Signature | undefined {
  const head = latin1(bytes.subarray(0, 8))
  return signatures.find((candidate) => head.startsWith(candidate.bytes))
}

/**
 * Removes what a text for a printer or a terminal, such as a manual page, contains besides its characters:
 * overstruck letters, which make bold and underlined ones, and colours.
 */
function withoutOverstrike(text: string): string {
  if (!text.includes('\b') && !text.includes('\u001b')) return text
  return text.replace(colourCodes, '').replace(overstruckCharacter, '')
}

/** The encoding in an XML declaration; without one, XML is UTF-8 or UTF-16. */
const xmlEncoding = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/

/**
 * Decodes an XML document.
 *
 * @throws TypeError if the bytes are not valid in the encoding that the document states
 */
export function decodeXml(bytes: Uint8Array): string {
  const marked = decodeMarked(bytes)
  if (marked !== undefined) return marked
  const declared = xmlEncoding.exec(latin1(bytes.subarray(0, 200)))?.[1]
  return decodeDeclared(bytes, declared) ?? new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

/** The `charset` parameter of a media type. */
export function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1]
}

/** Bytes as characters of the same code: for examining the beginning of a file of unknown charset. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function decodeMarked(bytes: Uint8Array): string | undefined {
  const head = latin1(bytes.subarray(0, 3))
  if (head === '\xef\xbb\xbf') return decode(bytes, 'utf-8')
  if (head.startsWith('\xff\xfe')) return decode(bytes, 'utf-16le')
  if (head.startsWith('\xfe\xff')) return decode(bytes, 'utf-16be')
  return undefined
}

function decodeDeclared(bytes: Uint8Array, declared: string | undefined): string | undefined {
  if (declared === undefined) return undefined
  try {
    const decoder = new TextDecoder(declared, { fatal: true })
    // Any bytes are valid latin1, and it is often declared by habit: valid UTF-8 is more credible.
    return decoder.encoding === 'windows-1252' ? undefined : decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function decodeUtf16(bytes: Uint8Array): string | undefined {
  const zeros = [0, 0]
  bytes.subarray(0, sampleSize).forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  })
  const [even = 0, odd = 0] = zeros
  // A few zeros in valid UTF-8 are stray bytes.
  if ((even + odd) * 5 < Math.min(bytes.length, sampleSize) && isUtf8(bytes)) return undefined
  if (odd > 0 && even === 0) return decode(bytes, 'utf-16le')
  if (even > 0 && odd === 0) return decode(bytes, 'utf-16be')
  return undefined
}

/** UTF-8, possibly with a few broken characters, as in files that were cut or joined. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  const text = decode(bytes, 'utf-8')
  const broken = count(text, /\ufffd/g)
  return broken === 0 || broken * 10 <= count(text, /[^\p{ASCII}]/gu) ? text : undefined
}

/** Encodings of old programs of many countries, by the frequency of bytes. */
function decodeDetected(bytes: Uint8Array): string | undefined {
  const encoding = detectEncoding(bytes)
  return encoding === undefined ? undefined : decodeDeclared(bytes, encoding)
}

/** Not by TextDecoder: that of Node 20 decodes windows-1252 as latin1. */
function decodeWindows1252(bytes: Uint8Array): string {
  return latin1(bytes).replace(/[\x80-\x9f]/g, (character) => {
    return windows1252.charAt(character.charCodeAt(0) - 0x80)
  })
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes)
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function binary(cause: string): ExtractionError {
  return new ExtractionError(
    'binary',
    `${cause}. Upload the document in its own format with the matching content type or extension, or as plain text.`,
  )
}

/** With fewer bytes beyond ASCII, any result is a guess, and the most common encoding the best one. */
const minEvidence = 8
/** Share of such bytes among the letters from which a text is not in Latin script. */
const foreignShare = 0.3
/** Lead in confidence over the most common encoding that another one of Latin script needs, in percent. */
const minConfidenceLead = 10

const latinEncodings = /^(?:iso-8859-(?:2|9)|windows-(?:1250|1254))$/i
const commonEncoding = /^(?:iso-8859-1|windows-1252)$/i
const nonLatinEncodings =
  /^(?:shift_jis|euc-jp|euc-kr|gb18030|big5|iso-2022-jp|koi8-r|iso-8859-(?:5|6|7|8)|windows-(?:1251|1253|1255|1256))$/i

/** The probable encoding of a text without a byte order mark, unless it is the most common one. */
function detectEncoding(bytes: Uint8Array): string | undefined {
  const sample = sampleOf(bytes)
  const beyond = sample.reduce((sum, byte) => sum + (byte > 0x7f ? 1 : 0), 0)
  const candidates = analyse(sample)
  // Japanese in seven bits is recognised by its escape sequences alone.
  if (candidates[0]?.name === 'ISO-2022-JP' && candidates[0].confidence > 50) {
    return candidates[0].name
  }
  if (beyond < minEvidence) return undefined
  if (beyond / (beyond + lettersIn(sample)) >= foreignShare) {
    return candidates.find(({ name }) => nonLatinEncodings.test(name))?.name
  }
  const [best] = candidates.filter(
    ({ name }) => latinEncodings.test(name) || commonEncoding.test(name),
  )
  const common = candidates.find(({ name }) => commonEncoding.test(name))?.confidence ?? 0
  if (best === undefined || commonEncoding.test(best.name)) return undefined
  return best.confidence - common >= minConfidenceLead ? best.name : undefined
}

/** The bytes around the first one that is not ASCII, which decide. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte > 0x7f || byte === 0x1b)
  const start = Math.max(0, first - 64)
  return bytes.subarray(start, start + sampleSize)
}

function lettersIn(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + (isLetter(byte | 0x20) ? 1 : 0), 0)
}

function isLetter(lowerCase: number): boolean {
  return lowerCase >= 0x61 && lowerCase <= 0x7a
}
