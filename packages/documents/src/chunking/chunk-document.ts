import type { Extraction } from '../document/extraction.js'
import { ExtractionError } from '../document/extraction-error.js'
import { type Block, blockSeparator, pageAt, toBlocks } from './blocks.js'
import { type Group, groupBlocks, type Lengths } from './groups.js'
import {
  type ChunkOptions,
  type Passage,
  type PassageKind,
  smallestMaximumLength,
} from './passage.js'
import { splitBlock } from './split.js'

/** Number of passages above which short ones are joined. */
const manyPassages = 20
/** Passages are short if their average length is below this share of the maximum ... */
const shortShare = 0.4
/** ... and are then joined up to this share. Figures: `docs/decisions/0002-document-pipeline.md`. */
const packedShare = 0.5

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
  const maximum = Math.max(options.maximumLength, smallestMaximumLength)
  const minimum = Math.min(options.minimumParagraphLength, maximum)
  const blocks = toBlocks(extraction)
  const length = blocks.reduce((sum, block) => sum + block.text.length, 0)
  if (length > maximum * options.maximumPassages) throw tooMany(length, options)
  let drafts = toDrafts(blocks, { maximum, minimum })
  if (options.packsShort === true && isFragmented(drafts, maximum)) {
    drafts = toDrafts(blocks, {
      maximum,
      minimum: Math.max(minimum, Math.ceil(maximum * packedShare)),
    })
  }
  if (drafts.length > options.maximumPassages) {
    // A long book of short paragraphs: fewer, longer passages are better than none.
    drafts = toDrafts(blocks, { maximum, minimum: maximum })
  }
  if (drafts.length > options.maximumPassages) throw tooMany(length, options)
  return drafts.map((draft, position) => ({ ...draft, position }))
}

/** Whether a document consists of many short paragraphs, such as the options of a program. */
function isFragmented(drafts: readonly Draft[], maximum: number): boolean {
  const length = drafts.reduce((sum, { content }) => sum + content.length, 0)
  return drafts.length > manyPassages && length < drafts.length * maximum * shortShare
}

function toDrafts(blocks: readonly Block[], lengths: Lengths): Draft[] {
  const drafts: Draft[] = []
  for (const group of groupBlocks(blocks, lengths)) {
    const [first, ...rest] = closeGroup(group, lengths.maximum)
    if (first === undefined) continue
    const previous = drafts.at(-1)
    const joined =
      previous !== undefined && rest.length === 0 ? joinShort(previous, first, lengths) : undefined
    if (joined === undefined) drafts.push(first, ...rest)
    else drafts.splice(-1, 1, joined)
  }
  return drafts
}

function closeGroup(group: Group, maximum: number): Draft[] {
  const last = group.blocks.at(-1)
  const first = group.blocks[0]
  if (first === undefined || last === undefined) return []
  const lead = group.blocks.slice(0, -1)
  const leadLength = last.start - first.start
  const own = group.blocks.flatMap((block) => block.heading?.text || [])
  const fits = leadLength + last.text.length <= maximum
  const pieces = fits
    ? [{ content: last.text, start: 0, end: last.text.length }]
    : splitBlock(last, maximum, maximum - leadLength)
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
  if (short.content.length >= lengths.minimum || short.ownHeadings.length > 0) return undefined
  if (short.pageNumber !== previous.pageNumber || !isSameSection(previous, short)) return undefined
  const content = `${previous.content}${blockSeparator}${short.content}`
  return content.length <= lengths.maximum ? { ...previous, content, end: short.end } : undefined
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
    `The document has ${length} characters and would take more than ${options.maximumPassages} ` +
      `passages of ${options.maximumLength} characters. Split it into several files, ask for longer ` +
      'passages with maximumChunkLength, or raise BOTSTEAD_MAX_PASSAGES_PER_FILE.',
  )
}
