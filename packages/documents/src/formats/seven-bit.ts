import { isAscii } from 'node:buffer'
import iconv from 'iconv-lite'
import { createJudge } from './plausibility.js'

/** Encodings that write all characters in bytes of ASCII, between marks that switch to other character sets. */
export type SevenBit = 'hz-gb-2312' | 'iso-2022-jp' | 'iso-2022-kr' | 'iso-2022-cn' | 'utf-7'

/** Bytes that are examined for marks. */
const sampleSize = 65_536

/** A set of 94 rows with 94 characters each. */
type CharacterSet = 'jis' | 'jis-supplement' | 'gb' | 'ks'

const rowLength = 94
const firstByte = 0x21
const missing = '\ufffd'
const sheets = new Map<CharacterSet, readonly string[]>()

/** All characters of a set, decoded once: texts switch between sets at every word. */
function sheetOf(set: CharacterSet): readonly string[] {
  const before = sheets.get(set)
  if (before !== undefined) return before
  const prefix = set === 'jis-supplement' ? [0x8f] : []
  const bytes: number[] = []
  for (let row = 0; row < rowLength; row += 1) {
    for (let cell = 0; cell < rowLength; cell += 1) {
      bytes.push(...prefix, row + firstByte + 0x80, cell + firstByte + 0x80, 0x0a)
    }
  }
  const encoding = { jis: 'euc-jp', 'jis-supplement': 'euc-jp', gb: 'gb2312', ks: 'euc-kr' }[set]
  const sheet = iconv
    .decode(Buffer.from(bytes), encoding)
    .split('\n')
    .map((character) => (character.length === 1 ? character : missing))
  sheets.set(set, sheet)
  return sheet
}

function characterAt(set: CharacterSet, row: number, cell: number): string {
  const isInside = [row, cell].every((byte) => byte >= firstByte && byte < firstByte + rowLength)
  const at = (row - firstByte) * rowLength + (cell - firstByte)
  return (isInside ? sheetOf(set)[at] : undefined) ?? missing
}

/**
 * The encoding of a text in bytes of ASCII whose marks all fit into it and make more plausible words than they are by
 * themselves; undefined if it is a text like others.
 */
export function sevenBitIn(bytes: Uint8Array): SevenBit | undefined {
  const sample = bytes.subarray(0, sampleSize)
  if (!isAscii(sample)) return undefined
  const text = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength).toString('latin1')
  const shifted = shiftedIn(text)
  if (shifted !== undefined) return shifted
  const found =
    text.includes('~{') && isHz(text) ? 'hz-gb-2312' : isUtf7(text) ? 'utf-7' : undefined
  if (found === undefined) return undefined
  const judge = createJudge()
  const told = text
    .split('\n')
    .filter((line) => /[~+]/.test(line))
    .join('\n')
    .slice(0, 4000)
  const read = decodeSevenBit(found, Buffer.from(told, 'latin1'))
  return judge.costOf(read) < judge.costOf(told) ? found : undefined
}

/** Decodes such a text; what is not in the encoding becomes U+FFFD. */
export function decodeSevenBit(encoding: SevenBit, bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (encoding === 'utf-7') return decodeUtf7(text)
  return encoding === 'hz-gb-2312' ? decodeHz(text) : decodeShifts(text)
}

/** Sequences that designate a set, by which these encodings differ. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with the escape character
const designation = /\x1b(?:\$[@AB]|\$([()*])([@A-DGHOPQ])|\(I)/

function shiftedIn(text: string): SevenBit | undefined {
  const found = designation.exec(text)
  if (found === null) return undefined
  const [, place = '', set = ''] = found
  if (place === ')' && set === 'C') return 'iso-2022-kr'
  return (place === ')' || place === '*') && 'AGH'.includes(set) ? 'iso-2022-cn' : 'iso-2022-jp'
}

/** Whether every tilde belongs to a mark, and every pair between two of them is a character. */
function isHz(text: string): boolean {
  const rest = text.replace(
    /~\{((?:[!-w][!-~])+)~\}|~~|~\n|~(?:\{[!-}]*)?$/g,
    (_, pairs?: string) => {
      return pairs === undefined || !decodeHz(`~{${pairs}~}`).includes(missing) ? '' : '~'
    },
  )
  return !rest.includes('~')
}

function decodeHz(text: string): string {
  return text.replace(
    /~\{([^\n]*?)(?:~\}|(?=\n)|$)|~([~\n])/g,
    (_, pairs?: string, sign?: string) => {
      if (pairs === undefined) return sign === '~' ? '~' : ''
      return decodePairs('gb', pairs)
    },
  )
}

function decodePairs(set: CharacterSet, pairs: string): string {
  const characters: string[] = []
  for (let at = 0; at < pairs.length; at += 2) {
    characters.push(characterAt(set, pairs.charCodeAt(at), pairs.charCodeAt(at + 1)))
  }
  return characters.join('')
}

/** The character set of the bytes between two marks. */
type Mode = CharacterSet | 'ascii' | 'katakana' | 'unknown'

const setsByLetter: Readonly<Record<string, Mode>> = {
  '@': 'jis',
  A: 'gb',
  B: 'jis',
  C: 'ks',
  D: 'jis-supplement',
  O: 'jis',
  Q: 'jis',
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for marks
const marks = /\x1b\$([()*]?)([@A-Z])|\x1b\(([A-Z])|\x1b\.[A-Z]|\x1bN([\s\S])|[\x0e\x0f\n]/g

function decodeShifts(text: string): string {
  const parts: string[] = []
  let [first, second]: [Mode, Mode] = ['ascii', 'unknown']
  let isShifted = false
  let from = 0
  const read = (to: number) => {
    if (to > from) parts.push(decodeIn(isShifted ? second : first, text.slice(from, to)))
  }
  for (const match of text.matchAll(marks)) {
    const [mark, place, wide, narrow, single] = match
    read(match.index)
    from = match.index + mark.length
    if (mark === '\x0e' || mark === '\x0f') isShifted = mark === '\x0e'
    else if (mark === '\n') {
      parts.push(mark)
      isShifted = false
      first = 'ascii'
    } else if (narrow !== undefined) first = narrow === 'I' ? 'katakana' : 'ascii'
    else if (single !== undefined) parts.push(String.fromCharCode(single.charCodeAt(0) | 0x80))
    else if (wide !== undefined && place === ')') second = setsByLetter[wide] ?? 'unknown'
    else if (wide !== undefined && place !== '*') first = setsByLetter[wide] ?? 'unknown'
  }
  read(text.length)
  return parts.join('')
}

function decodeIn(mode: Mode, text: string): string {
  if (mode === 'ascii') return text
  if (mode === 'unknown') return missing.repeat(Math.ceil(text.length / 2))
  if (mode !== 'katakana') return decodePairs(mode, text)
  return text.replace(/[!-_]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xff40))
}

const utf7Run = /\+([A-Za-z0-9+/]*)-?/g

/** Whether every plus sign begins a run of characters beyond ASCII, or stands for itself as `+-`. */
function isUtf7(text: string): boolean {
  let runs = 0
  for (const [run, letters = ''] of text.matchAll(utf7Run)) {
    if (run === '+-') continue
    // With digits only, it is a telephone number.
    if (!/[A-Za-z]/.test(letters) || utf7Units(letters) === undefined) return false
    runs += run.endsWith('-') ? 2 : 1
  }
  return runs > 1
}

/** The characters of a run; undefined if the bits that are left are not zero, or if it has ASCII letters. */
function utf7Units(letters: string): string | undefined {
  const left = (letters.length * 6) % 16
  const bytes = Buffer.from(letters, 'base64')
  const text = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16()
  const read = text.toString('utf16le')
  const last = Buffer.from(`${letters.slice(-1)}AAA`, 'base64')[0] ?? 0
  const isPadded = left < 6 && ((last >> 2) & ((1 << left) - 1)) === 0
  return isPadded && read !== '' && !/[A-Za-z0-9]|\p{Cn}|\p{Co}|\p{Cs}/u.test(read)
    ? read
    : undefined
}

function decodeUtf7(text: string): string {
  return text.replace(utf7Run, (run, letters: string) => {
    return run === '+-' ? '+' : (utf7Units(letters) ?? run)
  })
}
