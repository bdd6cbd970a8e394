import type { BlockContent, Code, DefinitionContent } from 'mdast'
import { append } from './append.js'
import { requirePieces } from './limits.js'
import { buildList, type FlatListItem, paragraph, type Span, toPhrasing } from './nodes.js'

/** A block of a document that is read one paragraph at a time. */
export type FlowBlock = BlockContent | DefinitionContent

/** Joins paragraphs of Office documents to the blocks that they are parts of. */
export interface Flow {
  /** Adds an item of a list: adjacent items are one list. */
  item(item: FlatListItem): void
  /** Adds a block to the last item of the open list; returns false if none is open. */
  more(block: BlockContent): boolean
  /** Adds a line of code: adjacent lines are one block. */
  code(line: string): void
  /** Adds an empty line, if a block of code is open. */
  blank(): void
  block(block: FlowBlock): void
  /**
   * Runs a task that adds more, such as the note of a list item: not before the open list ends, so that its items
   * stay together.
   */
  after(task: () => void): void
  /** Ends an open list or code. */
  close(): void
  readonly blocks: FlowBlock[]
}

export function createFlow(): Flow {
  const blocks: FlowBlock[] = []
  let items: FlatListItem[] = []
  let lines: string[] = []
  let tasks: (() => void)[] = []
  let count = 0

  const grow = () => {
    count += 1
    requirePieces(count, 'paragraphs')
  }
  const end = () => {
    append(blocks, buildList(items))
    if (lines.length > 0) blocks.push({ type: 'code', value: lines.join('\n') } satisfies Code)
    items = []
    lines = []
    const waiting = tasks
    tasks = []
    for (const task of waiting) task()
  }
  const close = () => {
    // A task may open a list of its own.
    while (items.length > 0 || lines.length > 0 || tasks.length > 0) end()
  }
  return {
    item(item) {
      grow()
      if (lines.length > 0) close()
      items.push(item)
    },
    more(block) {
      const last = items.at(-1)
      if (last === undefined) return false
      grow()
      last.more ??= []
      last.more.push(block)
      return true
    },
    code(line) {
      grow()
      if (items.length > 0) close()
      lines.push(line)
    },
    blank() {
      if (lines.length > 0) lines.push('')
    },
    block(block) {
      grow()
      close()
      blocks.push(block)
    },
    after(task) {
      if (items.length > 0 || lines.length > 0) tasks.push(task)
      else task()
    },
    close,
    blocks,
  }
}

/** The label that a program shows in front of a paragraph. */
export type Label = { type: 'bullet' } | { type: 'text'; text: string }

/** A label as lists of Markdown have it; `01` would become `1` there. */
const plainNumber = /^(0|[1-9]\d{0,8})[.)]?$/

/**
 * An item of a list with its label. A plain number is that of an ordered list; other labels, such as `2.1` and
 * `(a)`, are text at the beginning of the item.
 *
 * @param level from 0
 */
export function labelledItem(label: Label, level: number, spans: readonly Span[]): FlatListItem {
  if (label.type === 'bullet') {
    return { level, ordered: false, content: paragraph(toPhrasing(spans)) }
  }
  const number = plainNumber.exec(label.text)?.[1]
  if (number !== undefined) {
    return {
      level,
      ordered: true,
      number: Number(number),
      content: paragraph(toPhrasing(spans)),
    }
  }
  const content = paragraph(toPhrasing(withLabel(label, spans)))
  return { level, ordered: false, content }
}

/** The spans of a paragraph behind its label; a bullet is none. */
export function withLabel(label: Label | undefined, spans: readonly Span[]): Span[] {
  return label?.type === 'text' ? [{ text: `${label.text} ` }, ...spans] : [...spans]
}
