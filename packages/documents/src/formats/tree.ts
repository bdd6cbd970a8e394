import type { Nodes, Root } from 'mdast'

/** The text of a node without any marks. */
export function plainText(node: Nodes): string {
  if ('value' in node) return node.type === 'html' ? '' : node.value
  if ('alt' in node) return node.alt ?? ''
  return 'children' in node ? node.children.map(plainText).join('') : ''
}

/** The text of the first level 1 heading, in one line. */
export function firstHeading(root: Root): string | undefined {
  const heading = root.children.find((node) => node.type === 'heading' && node.depth === 1)
  const text = heading === undefined ? '' : plainText(heading).replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : text
}
