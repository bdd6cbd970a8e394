import { type Block, pageAt } from './blocks.js'

/** Share of a passage that blocks before a too long block may take of its first passage. */
const maxLeadShare = 0.5

/** Blocks of one passage; only the last of them may be too long for it. */
export interface Group {
  blocks: readonly Block[]
  /** Headings above the first block. */
  headings: readonly string[]
}

/** The lengths that decide which blocks go together, in UTF-16 units. */
export interface Lengths {
  /** Of a passage, at most. */
  maximum: number
  /** Of a text that is a passage of its own, at least. */
  minimum: number
}

/** Groups the blocks that belong into one passage, in order. */
export function groupBlocks(blocks: readonly Block[], lengths: Lengths): Group[] {
  const groups: Group[] = []
  const path: { depth: number; text: string }[] = []
  let open: Block[] = []
  let headings: string[] = []

  const close = (from: number) => {
    if (from > 0) groups.push({ blocks: open.slice(0, from), headings })
    open = open.slice(from)
    headings = path.map((entry) => entry.text)
  }
  for (const block of blocks) {
    const { heading } = block
    if (heading !== undefined) leave(path, heading.depth)
    if (open.length > 0 && !joins(open, block, lengths)) close(leadInStart(open, block))
    if (open.length > 0 && !joins(open, block, lengths)) close(open.length)
    open.push(block)
    if (heading !== undefined && heading.text !== '') path.push(heading)
  }
  close(open.length)
  return groups
}

/** Whether a block joins the open blocks rather than beginning a new passage. */
function joins(open: readonly Block[], block: Block, lengths: Lengths): boolean {
  const first = open[0]
  const last = open.at(-1)
  if (first === undefined || last === undefined) return false
  const fits = block.start + block.text.length - first.start <= lengths.maximum
  if (block.heading !== undefined) {
    // Only lower headings: an empty section is not related to the one after it.
    return fits && last.heading !== undefined && block.heading.depth > last.heading.depth
  }
  const unfinished = last.heading !== undefined || last.leadsIn || isShort(open, lengths.minimum)
  if (!unfinished) return false
  if (last.heading === undefined && pageAt(first, 0) !== pageAt(block, 0)) return false
  const leadFits = block.start - first.start <= lengths.maximum * maxLeadShare
  return fits || (block.text.length > lengths.maximum && leadFits)
}

/** Whether the text below the headings is too short for a passage. */
function isShort(open: readonly Block[], minimum: number): boolean {
  const length = open
    .filter((block) => block.heading === undefined)
    .reduce((sum, block) => sum + block.text.length, 0)
  return length < minimum
}

/** Where to close so that a paragraph which introduces the next block stays with it. */
function leadInStart(open: readonly Block[], next: Block): number {
  const leadsIn = open.at(-1)?.leadsIn === true && next.heading === undefined
  const before = open.at(-2)
  return leadsIn && before !== undefined && before.heading === undefined
    ? open.length - 1
    : open.length
}

/** Removes the sections that a heading of this level ends from the path. */
function leave(path: { depth: number; text: string }[], depth: number) {
  while ((path.at(-1)?.depth ?? -1) >= depth) path.pop()
}
