import type {
  BlockContent,
  Heading,
  Paragraph,
  PhrasingContent,
  RootContent,
  Table,
  TableRow,
} from 'mdast'

const DEPTHS = [1, 2, 3, 4, 5, 6] as const

/** A heading; levels beyond the sixth are the sixth. */
export function heading(level: number, children: string | PhrasingContent[]): Heading {
  const depth = DEPTHS[Math.min(Math.max(Math.trunc(level), 1), 6) - 1] ?? 6
  return { type: 'heading', depth, children: toPhrasing(children) }
}

export function paragraph(children: string | PhrasingContent[]): Paragraph {
  return { type: 'paragraph', children: toPhrasing(children) }
}

/** A table whose first row is its header. Rows are filled up to the longest. */
export function table(rows: readonly (readonly (string | PhrasingContent[])[])[]): Table {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const children = rows.map((row): TableRow => {
    const cells = Array.from({ length: columns }, (_, at) => toPhrasing(row[at] ?? []))
    return {
      type: 'tableRow',
      children: cells.map((cell) => ({ type: 'tableCell', children: cell })),
    }
  })
  return { type: 'table', children }
}

/** Says on which page nodes begin. */
export function onPage<Node extends RootContent | BlockContent>(node: Node, page: number): Node {
  node.data = { ...node.data, pageNumber: page }
  return node
}

function toPhrasing(children: string | PhrasingContent[]): PhrasingContent[] {
  if (typeof children !== 'string') return children
  return children === '' ? [] : [{ type: 'text', value: children }]
}
