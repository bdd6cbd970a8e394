import type { Block } from './blocks.js'
import { findCut } from './boundaries.js'

/** What is repeated may take this share of a passage; the rest is for what is new in it. */
const LARGEST_REPEAT = 0.5

/** One piece of a block that did not fit as a whole. */
export interface Piece {
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
