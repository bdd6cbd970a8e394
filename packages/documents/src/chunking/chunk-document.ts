import { type Extraction, ExtractionError } from '../document/extraction.js'
import { type Block, blockSeparator, pageAt, toBlocks } from './blocks.js'
import { type ChunkOptions, minPassageLimit, type Passage, type PassageKind } from './passage.js'
import { splitBlock } from './split.js'

/** Number of passages above which short ones are joined. */
const manyPassages = 20
/** Passages are short if their average length is below this share of the maximum ... */
const shortShare = 0.4
/** ... and are then joined up to this share. Figures: `docs/decisions/0002-document-pipeline.md`. */
const packedShare = 0.5

/**
 * Cutting ends with so many times more passages than allowed: what they are like is known by then, and a document of
 * headings without text would make millions.
 */
const enoughShare = 4

/** A passage without its position. */
type Draft = Omit<Passage, 'position'>

/**
 * Cuts a document into passages along its headings. Every character of its normalized text, except
 * white space around cuts, is in exactly one passage, and the passages are in order.
 *
 * A heading is in one passage with the text below it: alone it would match a question best and answer
 * nothing. For the same reason, a heading and a lower one that follows it directly stay together.
 *
 * @throws ExtractionError if it takes more passages than allowed, even with passages as long as possible
 */
export function chunkDocument(extraction: Extraction, options: ChunkOptions): Passage[] {
  const max = Math.max(options.maxLength, minPassageLimit)
  const min = Math.min(options.minParagraphLength, max)
  const blocks = toBlocks(extraction)
  const length = blocks.reduce((sum, block) => sum + block.text.length, 0)
  if (length > max * options.maxPassages) throw tooMany(length, options)
  const enough = options.maxPassages * enoughShare
  let drafts = toDrafts(blocks, { max, min }, enough)
  if (options.packsShort === true && isFragmented(drafts, max)) {
    const packed = Math.max(min, Math.ceil(max * packedShare))
    drafts = toDrafts(blocks, { max, min: packed }, enough)
  }
  if (drafts.length > options.maxPassages) {
    // A long book of short paragraphs: fewer, longer passages are better than none.
    drafts = toDrafts(blocks, { max, min: max }, options.maxPassages)
  }
  if (drafts.length > options.maxPassages) throw tooMany(length, options)
  return drafts.map((draft, position) => ({ ...draft, position }))
}

/** Whether a document consists of many short paragraphs, such as the options of a program. */
function isFragmented(drafts: readonly Draft[], max: number): boolean {
  const length = drafts.reduce((sum, { content }) => sum + content.length, 0)
  return drafts.length > manyPassages && length < drafts.length * max * shortShare
}

/** @param enough passages with which it ends, so that there are more of them if there are too many */
function toDrafts(blocks: readonly Block[], lengths: Lengths, enough: number): Draft[] {
  const drafts: Draft[] = []
  for (const group of groupBlocks(blocks, lengths)) {
    if (drafts.length > enough) break
    const [first, ...rest] = closeGroup(group, lengths.max)
    if (first === undefined) continue
    const previous = drafts.at(-1)
    const joined =
      previous !== undefined && rest.length === 0 ? joinShort(previous, first, lengths) : undefined
    if (joined === undefined) drafts.push(first, ...rest)
    else drafts.splice(-1, 1, joined)
  }
  return drafts
}

function closeGroup(group: Group, max: number): Draft[] {
  const last = group.blocks.at(-1)
  const first = group.blocks[0]
  if (first === undefined || last === undefined) return []
  const lead = group.blocks.slice(0, -1)
  const leadLength = last.start - first.start
  const own = group.blocks.flatMap((block) => block.heading?.text || [])
  const fits = leadLength + last.text.length <= max
  const pieces = fits
    ? [{ content: last.text, start: 0, end: last.text.length }]
    : splitBlock(last, max, max - leadLength)
  return pieces.map((piece, index) => {
    const begins = index === 0
    // A title that is not part of the text is on no page.
    const paged = begins ? group.blocks.find((block) => block.pages.length > 0) : last
    const pageNumber = paged && pageAt(paged, begins ? 0 : piece.start)
    const texts = begins ? lead.map((block) => block.text) : []
    return {
      content: [...texts, piece.content].join(blockSeparator),
      type: 'chunk',
      subtype: begins ? kindOf(group.blocks) : last.kind,
      ...(pageNumber === undefined ? {} : { pageNumber }),
      headings: begins ? [...group.headings] : [...group.headings, ...own],
      ownHeadings: begins ? own : [],
      start: begins ? first.start : last.start + piece.start,
      end: last.start + piece.end,
    }
  })
}

/** Joins the short end of a section to the passage before it. */
function joinShort(previous: Draft, short: Draft, lengths: Lengths): Draft | undefined {
  if (short.content.length >= lengths.min || short.ownHeadings.length > 0) return undefined
  if (short.pageNumber !== previous.pageNumber || !isSameSection(previous, short)) return undefined
  const content = `${previous.content}${blockSeparator}${short.content}`
  return content.length <= lengths.max ? { ...previous, content, end: short.end } : undefined
}

function isSameSection(previous: Draft, next: Draft): boolean {
  const path = [...previous.headings, ...previous.ownHeadings]
  return (
    path.length === next.headings.length && path.every((text, at) => text === next.headings[at])
  )
}

/** The kind of a leading heading, else of the longest block. */
function kindOf(blocks: readonly Block[]): PassageKind {
  const [first, ...rest] = blocks
  if (first === undefined) return 'paragraph'
  if (first.heading !== undefined) return first.kind
  return rest.reduce((longest, block) => {
    return block.text.length > longest.text.length ? block : longest
  }, first).kind
}

function tooMany(length: number, options: ChunkOptions): ExtractionError {
  return new ExtractionError(
    'too_many_passages',
    `The document has ${length} characters and would take more than ${options.maxPassages} ` +
      `passages of up to ${options.maxLength} characters, the maximum. Split it into several files, ask for longer ` +
      'passages with maximumChunkLength, or raise BOTSTEAD_MAX_PASSAGES_PER_FILE.',
  )
}

/** Share of a passage that blocks before a too long block may take of its first passage. */
const maxLeadShare = 0.5

/** Blocks of one passage; only the last of them may be too long for it. */
interface Group {
  blocks: readonly Block[]
  /** Headings above the first block. */
  headings: readonly string[]
}

/** The lengths that decide which blocks go together, in UTF-16 units. */
interface Lengths {
  /** Of a passage, at most. */
  max: number
  /** Of a text that is a passage of its own, at least. */
  min: number
}

/** Groups the blocks that belong into one passage, in order. */
function* groupBlocks(blocks: readonly Block[], lengths: Lengths): Generator<Group> {
  const path: { depth: number; text: string }[] = []
  let open: Block[] = []
  /** Length of the text of the open blocks without headings: counting it anew for each block takes their square. */
  let length = 0
  let headings: string[] = []

  function* close(from: number): Generator<Group> {
    if (from > 0) yield { blocks: open.slice(0, from), headings }
    open = open.slice(from)
    length = open.reduce((sum, block) => sum + textLength(block), 0)
    headings = path.map((entry) => entry.text)
  }
  for (const block of blocks) {
    const { heading } = block
    if (heading !== undefined) leave(path, heading.depth)
    if (open.length > 0 && !joins(open, length, block, lengths))
      yield* close(leadInStart(open, block))
    if (open.length > 0 && !joins(open, length, block, lengths)) yield* close(open.length)
    open.push(block)
    length += textLength(block)
    if (heading !== undefined && heading.text !== '') path.push(heading)
  }
  yield* close(open.length)
}

/**
 * Whether a block joins the open blocks rather than beginning a new passage.
 *
 * @param length of their text, without headings
 */
function joins(open: readonly Block[], length: number, block: Block, lengths: Lengths): boolean {
  const first = open[0]
  const last = open.at(-1)
  if (first === undefined || last === undefined) return false
  const fits = block.start + block.text.length - first.start <= lengths.max
  if (block.heading !== undefined) {
    // Only lower headings: an empty section is not related to the one after it.
    return fits && last.heading !== undefined && block.heading.depth > last.heading.depth
  }
  const unfinished = last.heading !== undefined || last.leadsIn || length < lengths.min
  if (!unfinished) return false
  if (last.heading === undefined && pageAt(first, 0) !== pageAt(block, 0)) return false
  const leadFits = block.start - first.start <= lengths.max * maxLeadShare
  return fits || (block.text.length > lengths.max && leadFits)
}

function textLength({ heading, text }: Block): number {
  return heading === undefined ? text.length : 0
}

/** The index at which a passage closes, so that a paragraph which introduces the next block stays with it. */
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
