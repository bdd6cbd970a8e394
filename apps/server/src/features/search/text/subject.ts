import { functionWordsOf, isEnding, normalise, toBigrams, toRuns } from '@botstead/documents/text'

// Its dictionary holds the words of Chinese and of Japanese.
const SEGMENTER = new Intl.Segmenter('zh', { granularity: 'word' })

/** What a question is about, as opposed to how it is asked. */
export interface Subject {
  /** Words, and pairs of characters inside of words, that name the subject. */
  terms: ReadonlySet<string>
  /** Whether it consists of function words alone, which then are its terms. */
  isGrammar: boolean
}

/** Reads a question for the words that say what it is about. */
export function toSubject(text: string): Subject {
  const words = toRuns(normalise(text)).flatMap((run) =>
    run.unspaced
      ? [...SEGMENTER.segment(run.text)].map(({ segment }) => ({ text: segment, unspaced: true }))
      : [run],
  )
  const grammar = functionWordsOf(words.map(({ text }) => text))
  const subject = words.filter(({ text }) => !grammar.has(text))
  const isGrammar = subject.length === 0
  return { terms: new Set((isGrammar ? words : subject).flatMap(toTerms)), isGrammar }
}

function toTerms({ text, unspaced }: { text: string; unspaced: boolean }): string[] {
  if (!unspaced) return [text]
  const pairs = toBigrams(text)
  const naming = pairs.filter((pair) => !isEnding(pair))
  if (naming.length > 0) return naming
  return pairs.length > 0 ? pairs : [`${text}*`]
}
