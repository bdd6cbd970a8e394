/** A part of the structure that a program wrote beside the text: what is a heading, a table, a cell. */
export type StructureNode =
  | { role: string; children: readonly StructureNode[] }
  | { type: string; id: string }

/** Tables of a page as its structure names them. */
export interface TaggedTables {
  /** Cells of each row of each table, by their numbers on the page. */
  tables: number[][][]
  /** The cell to which a marked content belongs. */
  cells: ReadonlyMap<string, number>
}

/** Deeper structures come from no program that writes documents. */
const DEEPEST = 100

/** Reads which marked contents are cells. Tables inside of a cell are a part of its text. */
export function readTags(root: StructureNode): TaggedTables {
  const cells = new Map<string, number>()
  const tables: number[][][] = []
  let count = 0

  const visit = (node: StructureNode, depth: number, rows?: number[][], row?: number[]): void => {
    if (depth > DEEPEST || !('role' in node)) return
    const { role, children } = node
    if (row !== undefined && (role === 'TD' || role === 'TH')) {
      const ids = contentsOf(node, depth)
      if (ids.length > 0) row.push(count)
      for (const id of ids) cells.set(id, count)
      count += 1
      return
    }
    let [ownRows, ownRow] = [rows, row]
    if (role === 'Table') {
      ownRows = []
      ownRow = undefined
      tables.push(ownRows)
    } else if (role === 'TR' && rows !== undefined) {
      ownRow = []
      rows.push(ownRow)
    }
    for (const child of children) visit(child, depth + 1, ownRows, ownRow)
  }
  visit(root, 0)
  return { tables: tables.map((rows) => rows.filter((row) => row.length > 0)), cells }
}

function contentsOf(node: StructureNode, depth: number): string[] {
  if (depth > DEEPEST) return []
  if (!('role' in node)) return node.type === 'content' ? [node.id] : []
  return node.children.flatMap((child) => contentsOf(child, depth + 1))
}

/** How many nodes a structure has: that of a page may name all rows of a table of many pages. */
export function countNodes(node: StructureNode): number {
  let count = 0
  const left = [node]
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    count += 1
    if ('role' in each) left.push(...each.children)
  }
  return count
}
