import { type Block, pageAt } from './blocks.js'

/** What stands before a block that is too long for one passage may take this share of its first. */
const LARGEST_LEAD = 0.5

/** Blocks that belong into one passage; only the last of them may be too long for it. */
export interface Group {
  blocks: readonly Block[]
  /** Headings above the first block. */
  headings: readonly string[]
}

/** The lengths that decide which blocks go together, in UTF-16 units. */
export interface Lengths {
  /** Of a passage, at most. */
  room: number
  /** Of text that can stand alone, at least. */
  minimum: number
}

/** Brings the blocks that belong together into groups, in order. */
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

/** Whether a block goes on with the open blocks rather than beginning a passage of its own. */
function joins(open: readonly Block[], block: Block, lengths: Lengths): boolean {
  const first = open[0]
  const last = open.at(-1)
  if (first === undefined || last === undefined) return false
  const fits = block.start + block.text.length - first.start <= lengths.room
  if (block.heading !== undefined) {
    // Downwards only: an empty section has nothing to do with the one after it.
    return fits && last.heading !== undefined && block.heading.depth > last.heading.depth
  }
  const unfinished = last.heading !== undefined || last.leadsIn || isShort(open, lengths.minimum)
  if (!unfinished) return false
  if (last.heading === undefined && pageAt(first, 0) !== pageAt(block, 0)) return false
  const leadFits = block.start - first.start <= lengths.room * LARGEST_LEAD
  return fits || (block.text.length > lengths.room && leadFits)
}

/** Whether the text below the headings is too little to stand alone. */
function isShort(open: readonly Block[], minimum: number): boolean {
  const length = open
    .filter((block) => block.heading === undefined)
    .reduce((sum, block) => sum + block.text.length, 0)
  return length < minimum
}

/** Where to close so that a paragraph which introduces the next block goes along with it. */
function leadInStart(open: readonly Block[], next: Block): number {
  const leadsIn = open.at(-1)?.leadsIn === true && next.heading === undefined
  const before = open.at(-2)
  return leadsIn && before !== undefined && before.heading === undefined
    ? open.length - 1
    : open.length
}

/** Leaves the sections that a heading of this level ends. */
function leave(path: { depth: number; text: string }[], depth: number) {
  while ((path.at(-1)?.depth ?? -1) >= depth) path.pop()
}
