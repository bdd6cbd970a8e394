import { isAscii, isUtf8 } from 'node:buffer'
import { ExtractionError, type Source } from '../document/extraction.js'
import type { Omissions } from '../document/omissions.js'
import { decodeAs, encodingNamed, latin1 } from './encodings.js'
import { type Decoded, guessEncoding } from './guess-encoding.js'
import { sevenBitIn } from './seven-bit.js'

/** Bytes or characters that are examined; more would not change the result. */
const sampleSize = 65_536
/** Share of characters that do not occur in text above which a content counts as binary. */
const binaryShare = 0.02
/** Number of such characters that is allowed in any text. */
const harmlessCount = 3
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const nonTextCharacters = /(?![\t\n\v\f\r\x1b\x85])[\p{Cc}\p{Cn}\p{Co}\ufffd]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for such a character
const overstruckCharacter = /[^\n\x08]\x08/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for such a character
const colourCodes = /\x1b\[[\d;]{0,20}m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters
const controlCharacters = /[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const strayControls = /[\x00-\x07\x0e-\x19\x1c-\x1f]/g
const lineEndPattern = /\r\n?|\v|\f|\x85|\u2028|\u2029/g
/** Ends of fields and records in the output of databases and terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const fieldEnds = /[\x1c-\x1f]/g

/** Bytes whose lines show whether a text is a mixture. */
const mixedSample = 1024 * 1024
/** Lines in UTF-8, and their share of the lines in another encoding, from which a text is a mixture. */
const minUnicodeLines = 2
const unicodeShare = 0.2

interface Signature {
  bytes: string
  /** Name of the format with its article. */
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
  { bytes: 'x\x9f>"', format: 'a message of Outlook (TNEF)' },
  { bytes: '{\\rtf', format: 'a rich text document', type: 'text/rtf' },
]

/**
 * Decodes a text file: by its byte order mark, else as UTF-8 if it is valid, else by the charset it declares if that
 * makes words, else by the encoding that makes the most plausible ones. Line ends become `\n`; control characters are
 * removed.
 *
 * @param declared charset named by the media type or the document; wrong names are ignored
 * @param omissions learns which encoding was taken, if that is in doubt
 * @throws ExtractionError if the bytes are not text
 */
export function decodeText(bytes: Uint8Array, declared?: string, omissions?: Omissions): string {
  const known = signatureOf(bytes)
  if (known !== undefined) throw binary(`The content is ${known.format}, not text`)

  if (isMainframeText(bytes)) {
    throw new ExtractionError(
      'binary',
      'The content is text of a mainframe (EBCDIC). Convert it to UTF-8 and upload it again.',
    )
  }
  return toText(decodeBytes(bytes, declared), omissions)
}

/** Share of the bytes of EBCDIC that are blanks, and of those that are letters or digits. */
const minBlanks = 0.08
const minLetters = 0.5

/** Whether bytes are letters and blanks of EBCDIC, and none of them a blank or line end of other encodings. */
function isMainframeText(bytes: Uint8Array): boolean {
  if (bytes[0] === undefined || (bytes[0] < 0x80 && bytes[0] !== 0x40)) return false
  const sample = bytes.subarray(0, 4096)
  let [blanks, letters] = [0, 0]
  for (const byte of sample) {
    if (byte === 0x20 || byte === 0x0a) return false
    if (byte === 0x40) blanks += 1
    // Capitals, small letters and digits stand in rows of nine or ten, with gaps between them.
    if (byte > 0x80 && byte < 0xfa && (byte & 0x0f) < 0x0a) letters += 1
  }
  return blanks >= sample.length * minBlanks && letters >= sample.length * minLetters
}

/** Texts of one file whose encoding is guessed: each takes as long as a small file. */
const maxGuesses = 50

/** Decodes the texts inside of one file, of which there may be thousands; as {@link decodeText}. */
export type Decoder = (bytes: Uint8Array, declared?: string) => string

/** Makes the decoder for one file. After some guesses, it uses the declared encodings of texts, or else the last guess. */
export function createDecoder(omissions?: Omissions): Decoder {
  let left = maxGuesses
  let last = 'windows-1252'
  return (bytes, declared) => {
    if (isUtf8(bytes)) return decodeText(bytes, declared, omissions)
    if (left > 0) {
      left -= 1
      const decoded = decodeBytes(bytes, declared)
      last = decoded.encoding.startsWith('utf') ? last : decoded.encoding
      return toText(decoded, omissions)
    }
    const encoding = (declared === undefined ? undefined : encodingNamed(declared)) ?? last
    return toText(decodeMarked(bytes) ?? { encoding, text: decodeAs(encoding, bytes) }, omissions)
  }
}

/** @throws ExtractionError if the characters are not those of a text */
function toText({ text: decoded, encoding, isInDoubt }: Decoded, omissions?: Omissions): string {
  const text = withoutOverstrike(decoded)
  const sample = text.slice(0, sampleSize)
  if (count(sample, nonTextCharacters) > Math.max(harmlessCount, sample.length * binaryShare)) {
    throw binary('The content is binary data, not text')
  }
  if (isInDoubt === true) omissions?.add('encoding_in_doubt', undefined, { detail: encoding })
  return text.replace(lineEndPattern, '\n').replace(fieldEnds, ' ').replace(controlCharacters, '')
}

/**
 * Decodes the file that is read.
 *
 * @param declared charset named by the document, if its media type names none
 * @throws ExtractionError if the bytes are not text
 */
export function decodeSource(source: Source, declared?: string): string {
  return decodeText(source.bytes, charsetOf(source.contentType) ?? declared, source.omissions)
}

function decodeBytes(bytes: Uint8Array, declared: string | undefined): Decoded {
  return (
    decodeMarked(bytes) ??
    decodeDeclared(bytes, declared) ??
    decodeShifted(bytes, declared) ??
    decodeUtf8(bytes) ??
    guessEncoding(bytes)
  )
}

/** A format that is not text, recognised by the first bytes of a content. */
export function signatureOf(bytes: Uint8Array): Signature | undefined {
  const head = latin1(bytes.subarray(0, 8))
  return signatures.find((candidate) => head.startsWith(candidate.bytes))
}

/**
 * Removes the formatting of a text for a printer or a terminal, such as a manual page: overstruck letters, which
 * make bold and underlined ones, and colours.
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
  if (marked !== undefined) return marked.text
  const declared = xmlEncoding.exec(latin1(bytes.subarray(0, 200)))?.[1]
  if (declared !== undefined && !isUtf8(bytes)) {
    const encoding = encodingNamed(declared)
    if (encoding !== undefined && encoding !== 'utf-8') return decodeAs(encoding, bytes)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

/** The `charset` parameter of a media type. */
export function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1]
}

function decodeMarked(bytes: Uint8Array): Decoded | undefined {
  const head = latin1(bytes.subarray(0, 3))
  const long = decodeLong(bytes)
  if (long !== undefined) return long
  if (head === '\xef\xbb\xbf') return { encoding: 'utf-8', text: decodeAs('utf-8', bytes) }
  if (head.startsWith('\xff\xfe'))
    return { encoding: 'utf-16le', text: decodeAs('utf-16le', bytes) }
  if (head.startsWith('\xfe\xff'))
    return { encoding: 'utf-16be', text: decodeAs('utf-16be', bytes) }
  return undefined
}

/** Half of a pair, or a code without a character, as in binary data. */
const noCharacter = /[\p{Cs}\p{Cn}]/u

/** UTF-32, with a mark or without one: all characters have zeros at the same end of their four bytes. */
function decodeLong(bytes: Uint8Array): Decoded | undefined {
  if (bytes.length < 4 || bytes.length % 4 !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isLittle = bytes[3] === 0
  const parts: string[] = []
  for (let from = 0; from < bytes.length; from += sampleSize) {
    const codes: number[] = []
    for (let at = from; at < Math.min(from + sampleSize, bytes.length); at += 4) {
      const code = view.getUint32(at, isLittle)
      if (code === 0 || code > 0x10ffff) return undefined
      codes.push(code)
    }
    const part = String.fromCodePoint(...codes)
    if (noCharacter.test(part)) return undefined
    parts.push(part)
  }
  return { encoding: isLittle ? 'utf-32le' : 'utf-32be', text: parts.join('') }
}

function decodeShifted(bytes: Uint8Array, declared: string | undefined): Decoded | undefined {
  const encoding = sevenBitIn(bytes)
  if (encoding === undefined) return undefined
  const text = decodeAs(encoding, bytes)
  const isStated = declared !== undefined && encodingNamed(declared) === encoding
  // The marks of Japanese mail are in no other text.
  const isSure = isStated || encoding === 'iso-2022-jp'
  return { encoding, text, isInDoubt: !isSure || text.includes('\ufffd') }
}

/** The text in the stated encoding, unless another reading makes much better words. */
function decodeDeclared(bytes: Uint8Array, declared: string | undefined): Decoded | undefined {
  const encoding = declared === undefined ? undefined : encodingNamed(declared)
  // Encodings of Europe are often declared by habit: valid UTF-8 is more credible than any of them.
  if (encoding === undefined || encoding === 'utf-8' || isUtf8(bytes)) return undefined
  return guessEncoding(bytes, encoding)
}

/** UTF-8, possibly with a few broken characters, as in files that were cut or joined. */
function decodeUtf8(bytes: Uint8Array): Decoded | undefined {
  const text = decodeAs('utf-8', bytes)
  const sample = text.slice(0, sampleSize)
  // A few of them are stray bytes, more are halves of the characters of UTF-16.
  if (count(sample, strayControls) > Math.max(harmlessCount, sample.length * binaryShare)) return
  if (!text.includes('\ufffd') || isUtf8(bytes)) return { encoding: 'utf-8', text }
  const whole = withoutHalves(bytes)
  if (isUtf8(whole) && !isAscii(whole)) return { encoding: 'utf-8', text }
  const mixed = decodeMixed(bytes)
  if (mixed !== undefined) return mixed
  const { broken, foreign } = countForeign(text)
  return broken * 10 <= foreign ? { encoding: 'utf-8', text, isInDoubt: true } : undefined
}

/** Without the halves of characters at both ends of a text that was cut by its bytes. */
function withoutHalves(bytes: Uint8Array): Uint8Array {
  const isInside = (byte: number | undefined) => byte !== undefined && byte >> 6 === 0b10
  let from = 0
  while (from < 3 && isInside(bytes[from])) from += 1
  let to = bytes.length
  while (to > bytes.length - 3 && isInside(bytes[to - 1])) to -= 1
  const last = bytes[to - 1] ?? 0
  const length = last >= 0xf0 ? 4 : last >= 0xe0 ? 3 : last >= 0xc2 ? 2 : 1
  return bytes.subarray(from, bytes.length - to + 1 < length ? to - 1 : bytes.length)
}

/** Lines in UTF-8 among others, as in logs and lists to which programs of different times have added. */
function decodeMixed(bytes: Uint8Array): Decoded | undefined {
  const examined = bytes.subarray(0, mixedSample)
  const others: Uint8Array[] = []
  let unicode = 0
  for (const line of linesOf(examined)) {
    if (isOther(line)) others.push(line)
    else if (!isAscii(line) && isUtf8(line)) unicode += 1
  }
  const isMixed = unicode >= minUnicodeLines && unicode >= others.length * unicodeShare
  if (others.length === 0 || !isMixed) return undefined
  const { encoding } = guessEncoding(Buffer.concat(others))
  const texts: string[] = []
  for (const line of linesOf(bytes)) texts.push(decodeAs(isOther(line) ? encoding : 'utf-8', line))
  return { encoding: `utf-8 and ${encoding}`, text: texts.join(''), isInDoubt: true }
}

/** Whether a line has no character of UTF-8 that has several bytes, but has others. */
function isOther(line: Uint8Array): boolean {
  return !isUtf8(line) && !/[^\p{ASCII}\ufffd]/u.test(decodeAs('utf-8', line))
}

/** Lines with their ends. */
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0x0a, from)
    const to = end === -1 ? bytes.length : end + 1
    yield bytes.subarray(from, to)
    from = to
  }
}

/** Characters beyond ASCII, and those of them that could not be decoded. Not by a pattern, which would list them. */
function countForeign(text: string): { broken: number; foreign: number } {
  let broken = 0
  let foreign = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 0x7f && (code < 0xdc00 || code > 0xdfff)) foreign += 1
    if (code === 0xfffd) broken += 1
  }
  return { broken, foreign }
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
