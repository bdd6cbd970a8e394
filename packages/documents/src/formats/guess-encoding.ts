import { candidates, decodeAs, latin1, wideCandidates } from './encodings.js'
import { createJudge, type Judge } from './plausibility.js'

/** A text, and the encoding that it was read in. */
export interface Decoded {
  encoding: string
  text: string
  /** Whether another encoding would make about as plausible words. */
  isInDoubt?: boolean
}

/** A reading of the sample. */
interface Reading {
  encoding: string
  sample: string
  cost: number
}

/** Bytes of words with letters beyond ASCII that decide; more would not change the result. */
const maxTelling = 1500
/** Bytes of other words, which say in which language the text is. */
const maxPlain = 400
/** Bytes in which these words are looked for. */
const maxSearched = 131_072
/** Bytes that decide whether a text has two bytes per character. */
const wideSample = 1024
/** Share of characters of a sample that are in no text, above which it is not in the encoding. */
const maxImpossible = 0.02
/** Cost of a byte of UTF-16 above which it is not text, unless it looks like letters of ASCII. */
const maxWideCost = 4.5
/** Lead of the best reading over the next one, in the units of `Judge.costOf`, below which it is a guess. */
const minLead = 4
/** Letters beyond ASCII below which a text is short: a rare encoding makes a plausible word of them by chance. */
const fewLetters = 6
/** Factor of the handicap of rare encodings, and the lead, for short texts. */
const rarityOfShort = 2
const minLeadOfShort = 8
/** Excess cost over the best encoding up to which the stated one is used: in units of cost, and as a share of the whole. */
const statedLead = 12
const statedShare = 0.15
/** Lead over the best reading in Latin letters that one in other letters needs, where words beside it are Latin. */
const scriptLead = 14
const latinWord = /[a-z]{3}/i
const accentedLetter = /(?!\p{ASCII})\p{Script=Latin}/u
const otherLetter = /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}])\p{L}/u

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const impossible = /(?![\t\n\v\f\r\x1a\x1b])[\p{Cc}\p{Cn}\p{Co}\p{Cs}\ufffd]/gu

/**
 * Decodes bytes that are not marked and not UTF-8, in the encoding that makes the most plausible words of them.
 *
 * @param stated encoding that the file or its media type states: it is used unless it makes nonsense
 */
export function guessEncoding(bytes: Uint8Array, stated?: string): Decoded {
  const judge = createJudge()
  const wide = readWide(bytes, judge, stated)
  if (wide !== undefined) return { encoding: wide, text: decodeAs(wide, bytes) }
  const sample = sampleOf(bytes)
  const isShort = sample.reduce((sum, byte) => sum + (byte > 0x7f ? 1 : 0), 0) < fewLetters
  const known = candidates.some(({ name }) => name === stated)
  const all =
    known || stated === undefined ? candidates : [...candidates, { name: stated, rarity: 0 }]
  const readings = all
    .map(({ name, rarity }): Reading => {
      const read = decodeAs(name, sample)
      return {
        encoding: name,
        sample: read,
        cost: judge.costOf(read) + rarity * (isShort ? rarityOfShort : 1),
      }
    })
    .sort((a, b) => a.cost - b.cost)
  const { encoding, isInDoubt } = choose(readings, isShort, stated)
  return { encoding, text: decodeAs(encoding, bytes), isInDoubt }
}

function choose(
  readings: readonly Reading[],
  isShort: boolean,
  stated?: string,
): { encoding: string; isInDoubt: boolean } {
  const [best] = readings
  if (best === undefined) return { encoding: 'windows-1252', isInDoubt: true }
  const own = readings.find(({ encoding }) => encoding === stated)
  if (own !== undefined && own.cost - best.cost <= Math.max(statedLead, best.cost * statedShare)) {
    return { encoding: own.encoding, isInDoubt: false }
  }
  const next = readings.find(({ sample }) => sample !== best.sample)
  const lead = (next?.cost ?? Number.POSITIVE_INFINITY) - best.cost
  if (best.sample.includes('\ufffd') || hasStrangeSigns(best.sample))
    return { encoding: best.encoding, isInDoubt: true }
  const latin = stated === undefined ? inLatinLetters(readings, best) : undefined
  if (latin !== undefined) {
    // A few letters with accents make words in some alphabet by chance.
    const isBeside = latinWord.test(best.sample)
    return { encoding: (isBeside ? latin : best).encoding, isInDoubt: true }
  }
  return {
    encoding: best.encoding,
    isInDoubt: stated !== undefined || lead < (isShort ? minLeadOfShort : minLead),
  }
}

/** A sign beyond ASCII that no text has between two letters, or the line of a frame beside one. */
const strangeSign =
  /(?<=\p{L})(?![\p{ASCII}\p{L}\p{M}\p{N}\u00ad\u200b-\u200f’‘·・ー–—…])[^\s](?=\p{L})|(?<=\p{L})[\u2500-\u259f]|[\u2500-\u259f](?=\p{L})/gu
/** Share of the characters beyond ASCII that such signs have in a text that was written in another encoding. */
const maxStrange = 0.1

/** Whether even the best reading has so many signs within words that it is hardly the right one. */
function hasStrangeSigns(sample: string): boolean {
  const foreign = sample.match(/[^\p{ASCII}]/gu)?.length ?? 0
  const strange = sample.match(strangeSign)?.length ?? 0
  return strange > 1 && strange > foreign * maxStrange
}

/** The best reading in Latin letters, if another one is not much better. */
function inLatinLetters(readings: readonly Reading[], best: Reading): Reading | undefined {
  if (!otherLetter.test(best.sample)) return undefined
  const latin = readings.find(
    ({ sample }) => accentedLetter.test(sample) && !otherLetter.test(sample),
  )
  return latin !== undefined && latin.cost - best.cost < scriptLead ? latin : undefined
}

/** UTF-16 without a mark, if that makes better words of the first bytes than every other encoding does. */
function readWide(bytes: Uint8Array, judge: Judge, stated?: string): string | undefined {
  const sample = bytes.subarray(0, Math.min(wideSample, bytes.length - (bytes.length % 2)))
  const possible = wideCandidates.flatMap(({ name, rarity }) => {
    const text = decodeAs(name, sample)
    const strange = text.match(impossible)?.length ?? 0
    if (strange > text.length * maxImpossible + (text.length > 16 ? 1 : 0)) return []
    return [{ name, cost: judge.costOf(text) + (name === stated ? 0 : rarity) }]
  })
  if (possible.length === 0) return undefined
  const best = possible.reduce((least, each) => (each.cost < least.cost ? each : least))
  if (best.cost > sample.length * maxWideCost && !hasZeros(sample, best.name)) return undefined
  const others = [...candidates.map(({ name }) => name), 'utf-8']
  const isBetter = others.every((name) => judge.costOf(decodeAs(name, sample)) > best.cost)
  return isBetter ? best.name : undefined
}

/** Whether most bytes that are zero in UTF-16 for letters of ASCII are, and no other. */
function hasZeros(sample: Uint8Array, encoding: string): boolean {
  const zeros = [0, 0]
  sample.forEach((byte, at) => {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  })
  const [even = 0, odd = 0] = zeros
  const [high, low] = encoding === 'utf-16le' ? [odd, even] : [even, odd]
  return low === 0 && high * 4 > sample.length
}

/**
 * The words that tell most: those with bytes beyond ASCII, each once, and some of the others. Words end at blanks,
 * which no encoding of several bytes uses within a character.
 */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const telling: Uint8Array[] = []
  const plain: Uint8Array[] = []
  const seen = new Set<string>()
  let [tellingSize, plainSize] = [0, 0]
  for (const word of wordsOf(bytes)) {
    const kept = word.subarray(0, maxTelling)
    const isTelling = kept.some((byte) => byte > 0x7f)
    if (isTelling ? tellingSize >= maxTelling : plainSize >= maxPlain) continue
    const key = latin1(kept)
    if (seen.has(key)) continue
    seen.add(key)
    const list = isTelling ? telling : plain
    list.push(kept)
    if (isTelling) tellingSize += kept.length
    else plainSize += kept.length
    if (tellingSize >= maxTelling) break
  }
  const blank = Uint8Array.of(0x20)
  return Buffer.concat([...plain, ...telling].flatMap((word) => [word, blank]))
}

/** The words at the beginning of a text, and those from its first byte beyond ASCII on. */
function* wordsOf(bytes: Uint8Array): Generator<Uint8Array> {
  const first = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - 1000)
  const ranges = [
    [0, Math.min(first, 4 * maxPlain)],
    [first, Math.min(bytes.length, first + maxSearched)],
  ] as const
  for (const [from, to] of ranges) {
    let start = from
    for (let at = from; at <= to; at += 1) {
      if (at < to && (bytes[at] ?? 0) > 0x20) continue
      if (at > start) yield bytes.subarray(start, at)
      start = at + 1
    }
  }
}
