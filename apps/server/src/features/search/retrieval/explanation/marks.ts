import { type LocatedToken, locateKeyTokens, locateTokens } from '@botstead/documents/text'
import { isLiteral, memoize, type QueryPart, worthsOfWords } from '../coverage.js'
import { isForm } from '../word-likeness.js'
import { type Relation, relationOf } from './relation.js'

/** A place in a text of a passage that matches terms of the question. */
interface Mark {
  field: 'content' | 'heading' | 'fileKey'
  /** Position of the heading. */
  heading?: number
  /** In UTF-16 units. */
  start: number
  end: number
  /** Best match first. */
  terms: string[]
  relation: Relation
  worth: number
}

/** A term of the question that a passage matches. */
interface MatchedTerm {
  term: string
  worth: number
  relation: Relation
  /** As written, each once. */
  found: string[]
}

/** The texts of a passage. */
export interface PassageTexts {
  content: string
  headings: readonly string[]
  fileKey: string
}

export interface Marked {
  marks: Mark[]
  /** The most significant first. */
  terms: MatchedTerm[]
}

/** A match of one part of the question by one word, or by several adjacent ones. */
interface WordMatch {
  part: number
  start: number
  end: number
  worth: number
  relation: Relation
}

const maxMarks = 500
const maxFound = 5

/**
 * Returns a function that finds the words of texts that match the parts of a question.
 * @param exact its literal phrases; those of one word are no parts of their own
 */
export function createMarker(
  weighed: readonly QueryPart[],
  exact: readonly string[][],
): (texts: PassageTexts) => Marked {
  const known = new Set(weighed.map(({ tokens }) => tokens.join(' ')))
  const literals = exact.filter((tokens) => !known.has(tokens.join(' ')))
  const parts = [
    ...weighed,
    ...literals.map((tokens) => ({ tokens, weight: 0, substitutes: new Map<string, number>() })),
  ]
  const matchesOf = createMatcher(parts)
  const termOf = (part: number) => parts[part]?.tokens.join(' ') ?? ''

  return ({ content, headings, fileKey }) => {
    const fields = [
      { field: 'content' as const, text: content, tokens: locateTokens(content) },
      ...headings.map((text, heading) => ({
        field: 'heading' as const,
        heading,
        text,
        tokens: locateTokens(text),
      })),
      { field: 'fileKey' as const, text: fileKey, tokens: locateKeyTokens(fileKey) },
    ]
    const marks: Mark[] = []
    const best = new Map<number, MatchedTerm>()
    for (const { text, tokens, ...place } of fields) {
      const matches = matchesOf(tokens)
      for (const match of matches) addTerm(best, match, termOf(match.part), text)
      marks.push(...merge(matches).map((group) => ({ ...place, ...toMark(group, termOf) })))
    }
    const byWeight = [...best].sort(
      ([a], [b]) => (parts[b]?.weight ?? 0) - (parts[a]?.weight ?? 0) || a - b,
    )
    return { marks: marks.slice(0, maxMarks), terms: byWeight.map(([, term]) => term) }
  }
}

const asTyped = { worth: 1, relation: 'exact' as const }

/** Returns a function that finds the tokens that match parts of a question, as their coverage is determined. */
function createMatcher(
  parts: readonly QueryPart[],
): (tokens: readonly LocatedToken[]) => WordMatch[] {
  const numbered = parts.map((part, number) => ({ ...part, number }))
  const words = numbered.filter((part) => !isLiteral(part))
  const literals = numbered.filter(isLiteral)
  const phrases = [
    ...literals.map(({ tokens, number }) => ({ wanted: tokens, part: number, ...asTyped })),
    ...numbered.flatMap(({ number, ...part }) =>
      [...part.substitutes].flatMap(([other, worth]) =>
        isLiteral(part) || other.includes(' ')
          ? [{ wanted: other.split(' '), part: number, worth, relation: 'spelling' as const }]
          : [],
      ),
    ),
  ]
  const worthsOf = memoize(worthsOfWords(words))
  const wordMatchesOf = memoize((token: string) => {
    const best = new Map<number, { worth: number; relation: Relation }>()
    for (const { at, worth } of worthsOf(token)) {
      const part = words[at]
      if (part === undefined || worth <= (best.get(part.number)?.worth ?? 0)) continue
      best.set(part.number, { worth, relation: relationIn(part, token) })
    }
    return [...best].map(([part, match]) => ({ part, ...match }))
  })
  return (tokens) => [
    ...tokens.flatMap(({ token, start, end }) =>
      wordMatchesOf(token).map((match) => ({ ...match, start, end })),
    ),
    ...phrases.flatMap(({ wanted, ...match }) => findPhrase(tokens, wanted, match)),
  ]
}

function relationIn({ tokens: [term = ''], substitutes }: QueryPart, token: string): Relation {
  const relation = relationOf(term, token)
  const isNear = () => [...substitutes.keys()].some((word) => isForm(word, token))
  return relation === 'related' && !isNear() ? 'letters' : relation
}

/** The places where tokens stand in this order; a star at the end stands for any continuation. */
function findPhrase(
  tokens: readonly LocatedToken[],
  wanted: readonly string[],
  match: Omit<WordMatch, 'start' | 'end'>,
): WordMatch[] {
  const isHere = (at: number) =>
    wanted.every((token, index) => {
      const found = tokens[at + index]?.token
      if (found === undefined) return false
      return token.endsWith('*') ? found.startsWith(token.slice(0, -1)) : found === token
    })
  return tokens.flatMap(({ start }, at) => {
    if (!isHere(at)) return []
    const end = tokens[at + wanted.length - 1]?.end ?? start
    // The tokens of joined numbers, at the end of the list, stand before those in front of them.
    return end > start ? [{ ...match, start, end }] : []
  })
}

/** Groups matches that overlap, in the order of the text. */
function merge(matches: readonly WordMatch[]): WordMatch[][] {
  const groups: WordMatch[][] = []
  let end = -1
  for (const match of matches.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (match.start < end) groups.at(-1)?.push(match)
    else groups.push([match])
    end = Math.max(end, match.end)
  }
  return groups
}

function toMark(
  group: readonly WordMatch[],
  termOf: (part: number) => string,
): Omit<Mark, 'field' | 'heading'> {
  const best = group.toSorted((a, b) => b.worth - a.worth || a.part - b.part)
  const { worth = 0, relation = 'letters' } = best[0] ?? {}
  return {
    start: Math.min(...group.map(({ start }) => start)),
    end: Math.max(...group.map(({ end }) => end)),
    terms: [...new Set(best.map(({ part }) => termOf(part)))],
    relation,
    worth,
  }
}

function addTerm(
  best: Map<number, MatchedTerm>,
  { part, worth, relation, start, end }: WordMatch,
  term: string,
  text: string,
): void {
  const known = best.get(part) ?? { term, worth: 0, relation, found: [] }
  const written = text.slice(start, end)
  if (!known.found.includes(written) && known.found.length < maxFound) known.found.push(written)
  best.set(part, worth > known.worth ? { ...known, worth, relation } : known)
}
