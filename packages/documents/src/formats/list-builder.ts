import type { BlockContent, List, ListItem, Paragraph } from 'mdast'
import { onPage } from './nodes.js'

/** A line of a list as Office formats have it: no tree, but a level. */
export interface ListLine {
  /** From 0. */
  level: number
  ordered: boolean
  /** Number of the first item of an ordered list, 1 by default. */
  start?: number
  content: Paragraph
}

/** Deeper levels are put on the deepest. */
const DEEPEST = 12

/** The tree that lines of a list stand for; neighbours of one level and kind share a list. */
export function buildList(lines: readonly ListLine[]): BlockContent[] {
  const roots: BlockContent[] = []
  const path: List[] = []
  for (const line of lines) {
    const level = Math.min(Math.max(line.level, 0), DEEPEST, path.length)
    path.length = Math.min(path.length, level + 1)
    let list = path[level]
    if (list === undefined || list.ordered !== line.ordered) {
      list = { type: 'list', ordered: line.ordered, spread: false, children: [] }
      if (line.ordered && line.start !== undefined) list.start = line.start
      const parent: ListItem | undefined = path[level - 1]?.children.at(-1)
      if (parent === undefined) roots.push(list)
      else parent.children.push(list)
      path[level] = list
    }
    const { content } = line
    const page = content.data?.pageNumber
    const item: ListItem = { type: 'listItem', spread: false, children: [content] }
    list.children.push(page === undefined ? item : onPage(item, page))
  }
  return roots
}
