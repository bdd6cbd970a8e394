import type { Nodes, Root } from 'mdast'
import type { Extraction } from '../document/extraction.js'
import { lettersOf, plainText } from '../document/nodes.js'
import type { PassageKind } from './passage.js'
import {
  fence,
  isBlank,
  isImagesOnly,
  openingFence,
  renderBlock,
  renderTableHead,
} from './render.js'
import { createWriter, type PageMark, type Seam } from './writer.js'

/** Length of a paragraph that may introduce the next block, in UTF-16 units. */
const maxLeadInLength = 300
/** Headings are repeated in every passage below them, so only their beginning is kept. */
const maxPathEntryLength = 200

/** A letter or a number that is not the number of a list item. */
const wordPattern = /\p{L}|\p{N}(?!\p{N}*[.)]\s)/gu

/** A top-level part of a document. */
export interface Block {
  kind: PassageKind
  text: string
  seams: readonly Seam[]
  /** Offset in the normalized text of the document. */
  start: number
  /** The pages that the block extends over, in order, if its format has any. */
  pages: readonly PageMark[]
  /** Level and text of a heading. The level is 0 for the title of the whole document, else 1 to 6. */
  heading?: { depth: number; text: string }
  /** Whether the block introduces the next one and must not be separated from it. */
  leadsIn: boolean
  /** Text at the beginning of later parts and at the end of earlier parts, if the block is cut. */
  repeat?: { before: string; after: string }
}

/** Separates two blocks in the normalized text of the document. */
export const blockSeparator = '\n\n'

/**
 * The blocks of a document in order. Their texts, joined by `blockSeparator`, are the normalized text
 * of the document, to which the offsets of passages refer.
 */
export function toBlocks(extraction: Extraction): Block[] {
  const nodes = extraction.root.children.filter((node) => !isBlank(node))
  const blocks: Block[] = []
  let start = 0
  const add = (block: Omit<Block, 'start'>) => {
    if (block.text === '') return
    blocks.push({ ...block, start })
    start += block.text.length + blockSeparator.length
  }
  const title = extraction.title
  if (title !== undefined && !isStatedIn(extraction.root, title)) add(titleBlock(title))
  const first = nodes.find((node) => node.type === 'heading')
  nodes.forEach((node, index) => {
    const block = toBlock(node, nodes[index + 1], nodes[index - 1])
    const { heading } = block
    const isTitle = node === first && heading?.depth === 1 && first.data?.isTitle === true
    add(isTitle ? { ...block, heading: { ...heading, depth: 0 } } : block)
  })
  return blocks
}

/** The page of the first word of a block at or after an offset of its text. */
export function pageAt({ text, pages }: Block, offset: number): number | undefined {
  if (pages.length < 2) return pages[0]?.page
  wordPattern.lastIndex = offset
  // Markers of lists and quotes before the word belong to the page of the word.
  const from = wordPattern.exec(text)?.index ?? offset
  return (pages.findLast((mark) => mark.offset <= from) ?? pages[0])?.page
}

function toBlock(node: Nodes, next?: Nodes, previous?: Nodes): Omit<Block, 'start'> {
  const writer = createWriter()
  renderBlock(writer, node)
  const text = writer.text.trimEnd()
  const repeat = repeatOf(node, previous)
  const heading =
    node.type === 'heading'
      ? { heading: { depth: node.depth, text: toPathEntry(plainText(node)) } }
      : {}
  return {
    kind: kindOf(node),
    text,
    seams: writer.seams,
    pages: writer.pages,
    leadsIn: isLeadIn(node, text, next),
    ...heading,
    ...(repeat === undefined ? {} : { repeat }),
  }
}

function titleBlock(title: string): Omit<Block, 'start'> {
  const heading = { depth: 0, text: toPathEntry(title) }
  return { kind: 'title', text: `# ${title}`, seams: [], pages: [], leadsIn: false, heading }
}

/** Whether the first heading of the document is its title, or the essential part of it. */
function isStatedIn(root: Root, title: string): boolean {
  const first = root.children.find((node) => node.type === 'heading' && node.depth === 1)
  const stated = first === undefined ? '' : lettersOf(plainText(first))
  return stated !== '' && lettersOf(title).includes(stated)
}

function kindOf(node: Nodes): PassageKind {
  switch (node.type) {
    case 'heading':
      return node.depth === 1 ? 'title' : 'subtitle'
    case 'paragraph':
      return isImagesOnly(node.children) ? 'image' : 'paragraph'
    case 'blockquote':
    case 'list':
    case 'table':
    case 'code':
    case 'image':
      return node.type
    default:
      return 'paragraph'
  }
}

function isLeadIn(node: Nodes, text: string, next: Nodes | undefined): boolean {
  if (node.type !== 'paragraph' || next === undefined || next.type === 'heading') return false
  return text.length <= maxLeadInLength && (next.type === 'table' || /[:：]$/.test(text))
}

function repeatOf(node: Nodes, previous: Nodes | undefined): Block['repeat'] {
  if (node.type === 'code') {
    return { before: `${openingFence(node)}\n`, after: `\n${fence(node)}` }
  }
  if (node.type !== 'table') return undefined
  const caption = previous?.type === 'paragraph' ? plainText(previous).trim() : ''
  const kept = caption !== '' && caption.length <= maxLeadInLength
  return {
    before: `${kept ? `${caption}${blockSeparator}` : ''}${renderTableHead(node)}\n`,
    after: '',
  }
}

function toPathEntry(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= maxPathEntryLength) return line
  return `${[...line]
    .slice(0, maxPathEntryLength - 1)
    .join('')
    .trimEnd()}…`
}
