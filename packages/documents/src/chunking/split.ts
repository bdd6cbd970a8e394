import type { Block } from './blocks.js'
import type { Seam } from './writer.js'

/** What is repeated may take this share of a passage; the rest is for what is new in it. */
const LARGEST_REPEAT = 0.5

/** One piece of a block that did not fit as a whole. */
interface Piece {
  content: string
  /** Range in the block's text, without what is repeated. */
  start: number
  end: number
}

/**
 * Cuts a block into pieces of at most `room` units, the first of at most `firstRoom`.
 * Later pieces of a table begin with its caption and header, pieces of code stand in fences.
 */
export function splitBlock(block: Block, room: number, firstRoom: number): Piece[] {
  const { before, after } = repeatWithin(block, room)
  const pieces: Piece[] = []
  let start = 0
  while (start < block.text.length) {
    const isFirst = pieces.length === 0
    const head = isFirst ? '' : before
    const space = (isFirst ? firstRoom : room) - head.length
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

function repeatWithin(block: Block, room: number): { before: string; after: string } {
  const { before, after } = block.repeat ?? { before: '', after: '' }
  const fits = before.length + after.length <= room * LARGEST_REPEAT
  return fits ? { before, after } : { before: '', after: '' }
}

/** Moves the rest of a nested list to where its first line begins, which is cut off its indentation. */
function dedent(block: Block, start: number, text: string): string {
  const line = block.text.slice(block.text.lastIndexOf('\n', start - 1) + 1, start)
  if (line === '' || line.trim() !== '') return text
  return text.replaceAll(`\n${line}`, '\n')
}

/** The indentation of a line of code means something; other blank space around a cut does not. */
function skipBlank(block: Block, from: number): number {
  const blank = block.kind === 'code' ? /\n*/y : /\s*/y
  blank.lastIndex = from
  return blank.exec(block.text) === null ? from : blank.lastIndex
}

/** A cut that leaves less than this share of the room used is only made if there is no other. */
const LEAST_FILL = 0.4

/** Whether a place is a boundary depends on what follows it, such as the rest of an emoji. */
const LOOKAHEAD = 64

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' })
const WORDS = new Intl.Segmenter('en', { granularity: 'word' })
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** A text and the places where it is best cut. */
interface Cuttable {
  text: string
  seams: readonly Seam[]
}

/**
 * Where to end a piece that begins at `from` and has room for `room` units: between parts of the
 * block, else after a sentence, else at a line end, else between words, else between characters.
 * Of several such places, the first that still makes all pieces about equally long.
 *
 * @returns an offset after `from`, at most `from + room`
 */
function findCut(block: Cuttable, from: number, room: number): number {
  const { text } = block
  const rest = text.length - from
  if (rest <= room) return text.length
  const window = text.slice(from, from + room)
  const aim = Math.min(room, Math.ceil(rest / Math.ceil(rest / room)))
  const inner = seamsWithin(block.seams, from, from + room)
  for (const rank of [...new Set(inner.map((seam) => seam.rank))].sort((a, b) => a - b)) {
    const offsets = inner.filter((seam) => seam.rank === rank).map((seam) => seam.offset - from)
    const cut = choose(offsets, aim, room)
    if (cut !== undefined) return from + cut
  }
  // A line break inside a paragraph ends no sentence, but the segmenter takes it for a paragraph's.
  const following = text.slice(from, from + room + LOOKAHEAD).replaceAll('\n', ' ')
  const cut =
    choose(starts(SENTENCES, following), aim, room) ??
    choose(lineEnds(window), aim, room) ??
    choose(starts(WORDS, following), aim, room) ??
    starts(GRAPHEMES, following)
      .filter((offset) => offset <= room)
      .at(-1) ??
    wholeCharacters(window)
  return from + cut
}

/** Seams after `from` and up to `to`. They are in order, and a table may have a million of them. */
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

/** The first offset that reaches the aim, else the last before it, if it uses enough of the room. */
function choose(offsets: readonly number[], aim: number, room: number): number | undefined {
  const fitting = offsets.filter((offset) => offset <= room && offset >= room * LEAST_FILL)
  return fitting.find((offset) => offset >= aim) ?? fitting.at(-1)
}

/** Where segments other than the first begin. */
function starts(segmenter: Intl.Segmenter, text: string): number[] {
  return [...segmenter.segment(text)].map((segment) => segment.index).filter((index) => index > 0)
}

function lineEnds(text: string): number[] {
  return [...text.matchAll(/\n/g)].map((match) => match.index + 1)
}

/** The length of a text without a half character at its end. */
function wholeCharacters(text: string): number {
  const isHalf = /[\ud800-\udbff]$/.test(text)
  return isHalf ? text.length - 1 : text.length
}
