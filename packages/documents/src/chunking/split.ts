import type { Block } from './blocks.js'
import type { Seam } from './writer.js'

/** Share of a passage that repeated text may take. */
const maxRepeatShare = 0.5

/** One piece of a block that did not fit as a whole. */
interface Piece {
  content: string
  /** Range in the text of the block, without repeated text. */
  start: number
  end: number
}

/**
 * Cuts a block into pieces of at most `max` units, the first of at most `firstMax`.
 * Later pieces of a table begin with its caption and header; all pieces of code are fenced.
 */
export function splitBlock(block: Block, max: number, firstMax: number): Piece[] {
  const { before, after } = repeatWithin(block, max)
  const pieces: Piece[] = []
  let start = 0
  while (start < block.text.length) {
    const isFirst = pieces.length === 0
    const head = isFirst ? '' : before
    const space = (isFirst ? firstMax : max) - head.length
    const whole = block.text.length - start <= space
    const end = whole ? block.text.length : findCut(block, start, space - after.length)
    const text = block.text.slice(start, end).trimEnd()
    if (text.trim() !== '') {
      const content = `${head}${dedent(block, start, text)}${whole ? '' : after}`
      pieces.push({ content, start, end: start + text.length })
    }
    start = skipBlank(block, end)
  }
  return pieces
}

function repeatWithin(block: Block, max: number): { before: string; after: string } {
  const { before, after } = block.repeat ?? { before: '', after: '' }
  const fits = before.length + after.length <= max * maxRepeatShare
  return fits ? { before, after } : { before: '', after: '' }
}

/** Removes the indentation of a piece of a nested list from all of its lines: the cut removes that of the first. */
function dedent(block: Block, start: number, text: string): string {
  // Back over blanks only: a block may be one line of megabytes.
  let from = start
  while (/[^\S\n]/.test(block.text.charAt(from - 1))) from -= 1
  const isIndentation = from < start && (from === 0 || block.text.charAt(from - 1) === '\n')
  return isIndentation ? text.replaceAll(`\n${block.text.slice(from, start)}`, '\n') : text
}

/** Skips blank space after a cut, except for the indentation of a line of code. */
function skipBlank(block: Block, from: number): number {
  const blank = block.kind === 'code' ? /\n*/y : /\s*/y
  blank.lastIndex = from
  return blank.exec(block.text) === null ? from : blank.lastIndex
}

/** Share of the maximum length that a piece has at least, unless there is no other cut. */
const minFill = 0.4

/** Characters after a boundary that decide whether it is one, such as the rest of an emoji. */
const boundaryLookahead = 64

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' })
const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** A text and the best offsets to cut it at. */
interface Cuttable {
  text: string
  seams: readonly Seam[]
}

/**
 * The end of a piece that begins at `from` and has at most `max` units: between parts of the
 * block, else after a sentence, else at a line end, else between words, else between characters.
 * Of several such offsets, the first one that still makes all pieces about equally long.
 *
 * @returns an offset after `from`, at most `from + max`
 */
function findCut(block: Cuttable, from: number, max: number): number {
  const { text } = block
  const rest = text.length - from
  if (rest <= max) return text.length
  const window = text.slice(from, from + max)
  const aim = Math.min(max, Math.ceil(rest / Math.ceil(rest / max)))
  const inner = seamsWithin(block.seams, from, from + max)
  for (const rank of [...new Set(inner.map((seam) => seam.rank))].sort((a, b) => a - b)) {
    const offsets = inner.filter((seam) => seam.rank === rank).map((seam) => seam.offset - from)
    const cut = choose(offsets, aim, max)
    if (cut !== undefined) return from + cut
  }
  // A line break in a paragraph does not end a sentence, although the segmenter takes it for one.
  const following = text.slice(from, from + max + boundaryLookahead).replaceAll('\n', ' ')
  const cut =
    choose(starts(sentenceSegmenter, following), aim, max) ??
    choose(lineEnds(window), aim, max) ??
    choose(starts(wordSegmenter, following), aim, max) ??
    starts(graphemeSegmenter, following)
      .filter((offset) => offset <= max)
      .at(-1) ??
    wholeCharacters(window)
  return from + cut
}

/** Seams after `from` and up to `to`, by binary search: a table may have a million of them. */
function seamsWithin(seams: readonly Seam[], from: number, to: number): Seam[] {
  let low = 0
  let high = seams.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seams[middle]?.offset ?? 0) <= from) low = middle + 1
    else high = middle
  }
  const within: Seam[] = []
  for (let index = low; index < seams.length; index += 1) {
    const seam = seams[index]
    if (seam === undefined || seam.offset > to) break
    within.push(seam)
  }
  return within
}

/** The first offset that reaches the aim, else the last one before it that makes the piece long enough. */
function choose(offsets: readonly number[], aim: number, max: number): number | undefined {
  const fitting = offsets.filter((offset) => offset <= max && offset >= max * minFill)
  return fitting.find((offset) => offset >= aim) ?? fitting.at(-1)
}

/** Offsets at which segments other than the first begin. */
function starts(segmenter: Intl.Segmenter, text: string): number[] {
  return [...segmenter.segment(text)].map((segment) => segment.index).filter((index) => index > 0)
}

function lineEnds(text: string): number[] {
  return [...text.matchAll(/\n/g)].map((match) => match.index + 1)
}

/** The length of a text without half of a surrogate pair at its end. */
function wholeCharacters(text: string): number {
  const isHalf = /[\ud800-\udbff]$/.test(text)
  return isHalf ? text.length - 1 : text.length
}
