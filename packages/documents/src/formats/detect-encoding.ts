import { analyse } from 'chardet'

/** Bytes that are looked at; more would not change the answer. */
const SAMPLE = 65_536
/** With fewer bytes beyond ASCII, every answer is a guess, and the most common encoding the best. */
const LEAST_EVIDENCE = 8
/** Share of such bytes among the letters from which on a text is not in Latin script. */
const FOREIGN_SHARE = 0.3
/** How much more likely than the most common one another encoding of Latin script must be, in percent. */
const LEAST_LEAD = 10

const LATIN = /^(?:iso-8859-(?:2|9)|windows-(?:1250|1254))$/i
const COMMON = /^(?:iso-8859-1|windows-1252)$/i
const FOREIGN =
  /^(?:shift_jis|euc-jp|euc-kr|gb18030|big5|iso-2022-jp|koi8-r|iso-8859-(?:5|6|7|8)|windows-(?:1251|1253|1255|1256))$/i

/** The encoding that a text without a mark probably has, if it is not the most common one. */
export function detectEncoding(bytes: Uint8Array): string | undefined {
  const sample = sampleOf(bytes)
  const beyond = sample.reduce((sum, byte) => sum + (byte > 0x7f ? 1 : 0), 0)
  const found = analyse(sample)
  // Japanese in seven bits shows itself by its escapes alone.
  if (found[0]?.name === 'ISO-2022-JP' && found[0].confidence > 50) return found[0].name
  if (beyond < LEAST_EVIDENCE) return undefined
  if (beyond / (beyond + lettersIn(sample)) >= FOREIGN_SHARE) {
    return found.find(({ name }) => FOREIGN.test(name))?.name
  }
  const [best] = found.filter(({ name }) => LATIN.test(name) || COMMON.test(name))
  const common = found.find(({ name }) => COMMON.test(name))?.confidence ?? 0
  if (best === undefined || COMMON.test(best.name)) return undefined
  return best.confidence - common >= LEAST_LEAD ? best.name : undefined
}

/** Around the first byte that is not ASCII: only from there on there is something to see. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte > 0x7f || byte === 0x1b)
  const start = Math.max(0, first - 64)
  return bytes.subarray(start, start + SAMPLE)
}

function lettersIn(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + (isLetter(byte | 0x20) ? 1 : 0), 0)
}

function isLetter(lowerCase: number): boolean {
  return lowerCase >= 0x61 && lowerCase <= 0x7a
}
