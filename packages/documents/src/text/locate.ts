import { locateJoined } from './codes.js'
import { camelBoundary } from './file-name.js'
import { isUnsegmented, segmentRun, shorten, wordPattern } from './index-text.js'
import { isAscii, isUnspaced, lineBreakInUnspaced, normalise, scriptRuns } from './normalise.js'

/** A token of the index, and its place in the original text, in UTF-16 units. */
export interface LocatedToken {
  token: string
  start: number
  /** The first unit after it. */
  end: number
}

/** A normalised text with the range of the original text for each of its units. */
interface Alignment {
  normalised: string
  starts: number[]
  ends: number[]
}

/**
 * The tokens of `toIndexText` in its order, with their places in the text. Tokens of numbers and codes without
 * separators, which are at the end, are listed once for each place.
 */
export function locateTokens(text: string): LocatedToken[] {
  const { normalised, starts, ends } = align(text)
  const place = (token: string, from: number, to: number): LocatedToken => ({
    token,
    start: starts[from] ?? 0,
    end: ends[to - 1] ?? 0,
  })
  const tokens: LocatedToken[] = []
  for (const { text: run, at, unspaced } of locateRuns(normalised)) {
    if (!unspaced) {
      tokens.push(place(shorten(run), at, at + run.length))
      continue
    }
    const characters = [...run]
    let from = at
    for (const [index, character] of characters.entries()) {
      const next = characters[index + 1] ?? ''
      const to = from + character.length
      tokens.push(place(character + next, from, to + next.length))
      from = to
    }
  }
  for (const { token, start, end } of locateJoined(normalised))
    tokens.push(place(token, start, end))
  return tokens
}

/** As {@link locateTokens}, for the key of a file, whose words in camel case are tokens too. */
export function locateKeyTokens(key: string): LocatedToken[] {
  const boundaries = [...key.matchAll(camelBoundary)].map(({ index }) => index)
  const whole = locateTokens(key)
  if (boundaries.length === 0) return whole
  const cuts = [0, ...boundaries, key.length]
  const parts = cuts.slice(1).flatMap((end, at) => {
    const start = cuts[at] ?? 0
    return locateTokens(key.slice(start, end)).map((part) => ({
      token: part.token,
      start: start + part.start,
      end: start + part.end,
    }))
  })
  return [...whole, ...parts]
}

interface LocatedRun {
  text: string
  /** Offset in the normalised text. */
  at: number
  unspaced: boolean
}

/** The runs of a normalised text, as `toRuns` makes them, with their places in it. */
function locateRuns(normalised: string): LocatedRun[] {
  return [...normalised.matchAll(wordPattern)].flatMap(({ 0: word, index: start }) =>
    [...word.matchAll(scriptRuns)].flatMap(({ 0: text, index }): LocatedRun[] => {
      const at = start + index
      if (isUnspaced(text)) return [{ text, at, unspaced: true }]
      if (isAscii(word) || !isUnsegmented(text)) return [{ text, at, unspaced: false }]
      return segmentRun(text).map(({ segment, index }) => ({
        text: segment,
        at: at + index,
        unspaced: false,
      }))
    }),
  )
}

/** A letter with the marks and invisible characters after it, which are normalised together. */
const clusters =
  /[^\p{M}\p{Default_Ignorable_Code_Point}][\p{M}\p{Default_Ignorable_Code_Point}]*|[\p{M}\p{Default_Ignorable_Code_Point}]+/gu

function align(text: string): Alignment {
  if (isAscii(text)) return alignAscii(text)
  const aligned = withoutLineBreaks(alignClusters(text))
  const normalised = normalise(text)
  // Some letters are normalised by the letters beside them, such as the sigma at the end of a word.
  if (aligned.normalised.length === normalised.length) return { ...aligned, normalised }
  return alignWords(text)
}

function alignAscii(text: string): Alignment {
  const starts = Array.from({ length: text.length }, (_, at) => at)
  return { normalised: text.toLowerCase(), starts, ends: starts.map((at) => at + 1) }
}

function alignClusters(text: string): Alignment {
  const known = new Map<string, string>()
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  for (const { 0: cluster, index } of text.matchAll(clusters)) {
    const normalised = known.get(cluster) ?? normalise(cluster)
    known.set(cluster, normalised)
    parts.push(normalised)
    for (let at = 0; at < normalised.length; at++) {
      starts.push(index)
      ends.push(index + cluster.length)
    }
  }
  return { normalised: parts.join(''), starts, ends }
}

/** Removes line breaks between characters of scripts without spaces, as `normalise` does. */
function withoutLineBreaks({ normalised, starts, ends }: Alignment): Alignment {
  const breaks = new Set([...normalised.matchAll(lineBreakInUnspaced)].map(({ index }) => index))
  if (breaks.size === 0) return { normalised, starts, ends }
  const isKept = (_: unknown, at: number) => !breaks.has(at)
  return {
    normalised: normalised.replace(lineBreakInUnspaced, ''),
    starts: starts.filter(isKept),
    ends: ends.filter(isKept),
  }
}

/** Aligns word by word; a word whose letters cannot be aligned has one place as a whole. */
function alignWords(text: string): Alignment {
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  for (const { 0: word, index } of text.matchAll(/\s+|\S+/gu)) {
    const aligned = alignClusters(word)
    const normalised = normalise(word)
    const isAligned = aligned.normalised.length === normalised.length
    parts.push(normalised)
    for (let at = 0; at < normalised.length; at++) {
      starts.push(index + (isAligned ? (aligned.starts[at] ?? 0) : 0))
      ends.push(index + (isAligned ? (aligned.ends[at] ?? 0) : word.length))
    }
  }
  return { normalised: parts.join(''), starts, ends }
}
