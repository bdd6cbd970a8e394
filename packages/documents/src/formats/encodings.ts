import iconv from 'iconv-lite'
import { codePages } from './code-pages.js'
import { decodeSevenBit, type SevenBit } from './seven-bit.js'

/** An encoding in which a file without a byte order mark may be. */
interface Candidate {
  name: string
  /** Handicap of a rare encoding, in the units of `Judge.costOf`. */
  rarity: number
}

/** Encodings whose characters below 0x80 are those of ASCII, the common ones first. */
export const candidates: readonly Candidate[] = [
  ...rated(0, 'windows-1252'),
  ...rated(2, 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254', 'windows-1255'),
  ...rated(2, 'windows-1256', 'windows-1257', 'windows-874'),
  ...rated(2, 'shift_jis', 'gb18030', 'big5', 'euc-kr', 'euc-jp', 'koi8-u'),
  ...rated(3, 'iso-8859-2', 'iso-8859-7', 'iso-8859-8', 'iso-8859-15', 'macintosh', 'ibm850'),
  ...rated(3, 'ibm852', 'ibm866', 'iso-8859-5', 'iso-8859-6', 'windows-1258'),
  ...rated(4, 'ibm437', 'x-mac-cyrillic', 'x-mac-ce', 'ibm862', 'ibm737', 'ibm857'),
  ...rated(
    5,
    'iso-8859-4',
    'iso-8859-13',
    'iso-8859-16',
    'x-mac-turkish',
    'x-mac-greek',
    'ibm855',
    'ibm775',
    'ibm860',
    'ibm861',
    'ibm869',
    'ibm720',
    'ibm1125',
    'hp-roman8',
    'x-mac-icelandic',
    'x-mac-romanian',
    'x-mac-croatian',
    'iso-8859-10',
  ),
]

/** Encodings whose characters have two bytes or four. */
export const wideCandidates: readonly Candidate[] = rated(2, 'utf-16le', 'utf-16be')

function rated(rarity: number, ...names: string[]): Candidate[] {
  return names.map((name) => ({ name, rarity }))
}

/** Names in media types and documents that the decoder of Node does not know, without signs and in small letters. */
const aliases: Readonly<Record<string, string>> = {
  iso885916: 'iso-8859-16',
  hproman8: 'hp-roman8',
  roman8: 'hp-roman8',
  maciceland: 'x-mac-icelandic',
  macromania: 'x-mac-romanian',
  maccroatian: 'x-mac-croatian',
  xmacce: 'x-mac-ce',
  xmaccentraleurroman: 'x-mac-ce',
  maccentraleurope: 'x-mac-ce',
  macce: 'x-mac-ce',
  macgreek: 'x-mac-greek',
  macturkish: 'x-mac-turkish',
  macroman: 'macintosh',
  maccyrillic: 'x-mac-cyrillic',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  uhc: 'euc-kr',
  cp65001: 'utf-8',
  utf8mb4: 'utf-8',
  utf16: 'utf-16le',
}

/** The name of an encoding as this module uses it; undefined if there is no such encoding. */
export function encodingNamed(label: string): string | undefined {
  const plain = label.toLowerCase().replace(/[^a-z0-9]/g, '')
  const page = /^(?:cs)?(?:ibm|cp|dos|oem|pc)(\d{3,4})$/.exec(plain)?.[1]
  const short = sevenBit[plain]
  if (short !== undefined) return short
  const known = aliases[plain] ?? aliases[`x${plain}`] ?? (page && `ibm${page}`)
  if (known !== undefined && known in codePages) return known
  for (const name of [label, known ?? '', plain.replace(/^(?:ms|x)/, '')]) {
    try {
      return new TextDecoder(name.trim()).encoding
    } catch {
      // A name that it does not know.
    }
  }
  return undefined
}

/** Decodes bytes; invalid ones become U+FFFD. */
export function decodeAs(name: string, bytes: Uint8Array): string {
  const page = codePages[name]
  if (page !== undefined) return decodePage(page, bytes)
  const short = sevenBit[name.replaceAll('-', '')]
  if (short !== undefined) return decodeSevenBit(short, bytes)
  // The decoder of Node lacks the syllables that Windows added to this encoding, three quarters of all.
  if (name === 'euc-kr') return iconv.decode(bytes, 'cp949')
  const text = new TextDecoder(name).decode(bytes)
  // Letters with separate accents, as Vietnamese has them there.
  return name === 'windows-1258' ? text.normalize('NFC') : text
}

/** Bytes that are decoded at a time. */
const step = 65_536

/** In pieces: the text of a large file is in memory once only. */
function decodePage(page: string, bytes: Uint8Array): string {
  const parts: string[] = []
  for (let from = 0; from < bytes.length; from += step) {
    const piece = bytes.subarray(from, from + step)
    const codes = Uint16Array.from(piece, (byte) => {
      return byte < 0x80 ? byte : page.charCodeAt(byte - 0x80)
    })
    parts.push(Buffer.from(codes.buffer).toString('utf16le'))
  }
  return parts.join('')
}

/** Names of encodings that the decoder of Node does not have, or not whole, without signs and in small letters. */
const sevenBit: Readonly<Record<string, SevenBit>> = {
  hz: 'hz-gb-2312',
  hzgb2312: 'hz-gb-2312',
  iso2022jp: 'iso-2022-jp',
  csiso2022jp: 'iso-2022-jp',
  iso2022jp1: 'iso-2022-jp',
  iso2022jp2: 'iso-2022-jp',
  iso2022jp3: 'iso-2022-jp',
  iso2022kr: 'iso-2022-kr',
  csiso2022kr: 'iso-2022-kr',
  iso2022cn: 'iso-2022-cn',
  iso2022cnext: 'iso-2022-cn',
  utf7: 'utf-7',
}

/** Bytes as characters of the same code: for examining the beginning of a file of unknown charset. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
