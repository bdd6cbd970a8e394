import type { Nodes } from 'mdast'
import { ExtractionError } from './extraction-error.js'
import type { Extraction } from './extractor.js'

/** Everything after extraction walks the tree by recursion and may rely on this bound. */
const DEEPEST = 600

/**
 * Lets a document pass that has content and is not nested without bound.
 *
 * @throws ExtractionError if it is empty or nested too deeply
 */
export function requireUsable(extraction: Extraction): Extraction {
  let empty = true
  let level: Nodes[] = [extraction.root]
  // Level by level instead of by recursion, which is what this protects.
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) {
      throw new ExtractionError(
        'too_deep',
        `The document nests its parts more than ${DEEPEST} levels deep. Flatten it and upload it again.`,
      )
    }
    empty &&= !level.some(hasContent)
    level = level.flatMap((node) => ('children' in node ? node.children : []))
  }
  if (!empty) return extraction
  throw new ExtractionError(
    'empty',
    'The file contains no text. A page that scripts build must be saved as the browser shows it.',
  )
}

function hasContent(node: Nodes): boolean {
  if (node.type === 'image') return true
  return 'value' in node && node.type !== 'html' && node.value.trim() !== ''
}
