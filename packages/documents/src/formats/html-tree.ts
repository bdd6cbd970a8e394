import type { Root } from 'hast'
import { fromParse5 } from 'hast-util-from-parse5'
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, parseFragment } from 'parse5'
import { ExtractionError } from './extraction-error.js'

/** As in browsers. What converts the tree is recursive and would run out of stack far below. */
const DEEPEST = 512

/**
 * @throws ExtractionError if elements are nested deeper than any browser shows them
 */
export function parseHtml(html: string): Root {
  return toRoot(parse(html, { treeAdapter: guardedAdapter(), scriptingEnabled: false }))
}

/** Parses what may stand inside a body, such as the HTML in a Markdown document. */
export function parseHtmlFragment(html: string): Root {
  return toRoot(parseFragment(html, { treeAdapter: guardedAdapter(), scriptingEnabled: false }))
}

function toRoot(
  tree: DefaultTreeAdapterTypes.Document | DefaultTreeAdapterTypes.DocumentFragment,
): Root {
  const root = fromParse5(tree)
  return root.type === 'root' ? root : { type: 'root', children: [] }
}

/** Stops while parsing: the parser's own time grows with the square of the depth. */
function guardedAdapter(): typeof defaultTreeAdapter {
  return {
    ...defaultTreeAdapter,
    appendChild(parent, child) {
      defaultTreeAdapter.appendChild(parent, child)
      requireShallow(parent)
    },
  }
}

function requireShallow(node: DefaultTreeAdapterTypes.ParentNode): void {
  let depth = 0
  let ancestor: DefaultTreeAdapterTypes.ParentNode | null = node
  while (ancestor !== null) {
    depth += 1
    ancestor = 'parentNode' in ancestor ? ancestor.parentNode : null
  }
  if (depth > DEEPEST) {
    throw new ExtractionError(
      'too_deep',
      `The HTML nests elements more than ${DEEPEST} levels deep. Flatten it and upload it again.`,
    )
  }
}
