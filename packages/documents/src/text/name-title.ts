import type { Passage } from '../chunking/passage.js'
import { toNameTitle } from './file-name.js'

type Placed = Pick<Passage, 'subtype' | 'headings' | 'ownHeadings'>

/**
 * Puts the name of the file above the passages of a document that states no title, so that who reads a
 * passage alone knows what it is about.
 *
 * @param passages all of the document, in order
 */
export function placeUnderName<P extends Placed>(passages: readonly P[], key: string): P[] {
  const title = statesTitle(passages) ? undefined : toNameTitle(key)
  if (title === undefined) return [...passages]
  return passages.map((passage) => ({ ...passage, headings: [title, ...passage.headings] }))
}

/** Takes away what {@link placeUnderName} put there for another key. */
export function takeFromName<P extends Placed>(passages: readonly P[]): P[] {
  // Nothing else stands above the beginning of a document.
  if (passages[0]?.headings.length !== 1) return [...passages]
  return passages.map((passage) => ({ ...passage, headings: passage.headings.slice(1) }))
}

/** Whether one heading of the highest kind stands above all that follows it. */
function statesTitle(passages: readonly Placed[]): boolean {
  const at = passages.findIndex(({ ownHeadings }) => ownHeadings.length > 0)
  const first = passages[at]
  if (first?.subtype !== 'title') return false
  return passages.slice(at + 1).every(({ headings }) => headings[0] === first.ownHeadings[0])
}
