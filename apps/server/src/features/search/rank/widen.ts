import type { Query } from '../text/query.js'

/** Shorter words have too many neighbours that mean something else. */
const shortestWidened = 4
const longestWidened = 40
/** Words of a query that are widened, the longest first: they say most. */
const maximumWords = 8
const maximumNeighbours = 20

/** The endings of a word that its stem may not have, in characters. */
const longestEnding = 3

/** The words of a query that none of some texts has. */
export function withoutFound(query: Query, texts: readonly string[]): Query {
  const terms = query.terms.filter((term) => {
    const stem = ` ${term.slice(0, Math.max(shortestWidened, term.length - longestEnding))}`
    return !texts.some((text) => ` ${text}`.includes(stem))
  })
  return { terms, phrases: [], exact: [] }
}

/** Where in a sorted list of stems to look for neighbours of the words of a query. */
export function neighbourhood(query: Query): { prefixes: string[]; words: string[] } {
  const wide = wordsToWiden(query)
  return {
    // People rarely mistype the beginning of a word.
    prefixes: [...new Set(wide.map((word) => word.slice(0, 2)))],
    words: [...new Set(wide.flatMap(parts))],
  }
}

/**
 * The query with words in place of those that nothing was found by: words that differ by a typing error
 * or two, parts of compounds, and longer words that begin with it.
 *
 * @param stems what the index holds, around {@link neighbourhood}
 * @returns undefined if no word has a neighbour
 */
export function widen(query: Query, stems: Iterable<string>): Query | undefined {
  const wide = wordsToWiden(query)
  const near = new Map<string, number>()
  for (const stem of stems) {
    for (const word of wide) {
      const distance = distanceOf(word, stem)
      if (distance === undefined) continue
      near.set(stem, Math.min(distance, near.get(stem) ?? Number.POSITIVE_INFINITY))
    }
  }
  const terms = [...near]
    .sort(([a, near], [b, far]) => near - far || (a < b ? -1 : 1))
    .slice(0, maximumNeighbours)
    .map(([stem]) => stem)
  return terms.length === 0 ? undefined : { terms, phrases: [], exact: [] }
}

function wordsToWiden({ terms }: Query): string[] {
  return terms
    .filter((term) => term.length >= shortestWidened && term.length <= longestWidened)
    .filter((term) => !term.endsWith('*'))
    .sort((a, b) => b.length - a.length)
    .slice(0, maximumWords)
}

/** What a compound may be made of: its beginnings and its ends. */
function parts(word: string): string[] {
  const found: string[] = []
  for (let at = shortestWidened; at < word.length; at++) found.push(word.slice(0, at))
  for (let at = 1; at <= word.length - shortestWidened; at++) found.push(word.slice(at))
  return found
}

/** How far a stem is from a word, from 0; undefined if they have nothing to do with each other. */
function distanceOf(word: string, stem: string): number | undefined {
  if (stem.length < shortestWidened) return undefined
  if (word === stem) return 0
  if (stem.startsWith(word)) return 1
  const allowed = word.length >= 8 ? 2 : 1
  const edits = editDistance(word, stem, allowed)
  if (edits <= allowed) return edits
  // The stem is what is left of the word that was meant.
  if (stem.length >= 5 && word.length > stem.length) {
    if (editDistance(word.slice(0, stem.length), stem, 1) <= 1) return 1.5
  }
  return word.startsWith(stem) || word.endsWith(stem) ? 2 : undefined
}

/** Letters to add, to leave out, to replace or to swap with their neighbour; above `limit` any number is. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const next = [row]
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      next[column] = Math.min(
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        isSwapped ? (before[column - 2] ?? limit) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    if (Math.min(...next) > limit) return limit + 1
    before = last
    last = next
  }
  return last[right.length] ?? limit + 1
}
