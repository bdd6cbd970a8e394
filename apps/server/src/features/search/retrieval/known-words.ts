import { normalise } from '@botstead/documents/text'

/** What is known of the words of languages, whatever the passages of a bot contain. */
export interface KnownWords {
  /** Whether a word, or one of which it is a regular form, belongs to a language. */
  has(word: string): boolean
  /**
   * How much a word tells about the subject of a text, from above 0 to 1: little if any text may have it, and everything if it
   * is rare or unknown.
   */
  informationIn(word: string): number
}

/** Share of a text that its most common word has; the n-th has one n-th of it. */
const shareOfFirst = 0.08
/** Words of a passage that are counted. */
const wordsOfPassage = 100
/** Share of the passages of any text that have a word which says everything about its subject. */
const rareShare = 0.002

/** Endings of regular English and German forms. */
const endings = ['s', 'es', 'd', 'ed', 'ing', 'ly', 'n', 'en', 'er']
const shortestStem = 3

let loading: Promise<KnownWords> | undefined

/** The known words of English and German, read once in a thread. */
export function loadKnownWords(): Promise<KnownWords> {
  loading ??= load()
  return loading
}

async function load(): Promise<KnownWords> {
  const lists = await Promise.all([
    import('@zxcvbn-ts/language-en/dist/commonWords.json.js'),
    import('@zxcvbn-ts/language-en/dist/wikipedia.json.js'),
    import('@zxcvbn-ts/language-de/dist/commonWords.json.js'),
    import('@zxcvbn-ts/language-de/dist/wikipedia.json.js'),
  ])
  return createKnownWords(lists.map(({ default: words }) => words))
}

/** @param lists words of a language each, the most common first */
export function createKnownWords(lists: readonly (readonly string[])[]): KnownWords {
  const ranks = new Map<string, number>()
  for (const words of lists) {
    for (const [at, written] of words.entries()) {
      const word = normalise(written)
      const rank = ranks.get(word)
      if (rank === undefined || at + 1 < rank) ranks.set(word, at + 1)
    }
  }
  const rankOf = (word: string) => {
    const rank = ranks.get(word)
    if (rank !== undefined) return rank
    for (const ending of endings) {
      const stem = word.slice(0, -ending.length)
      if (stem.length < shortestStem || !word.endsWith(ending)) continue
      const found = ranks.get(stem) ?? ranks.get(`${stem}e`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    has: (word) => rankOf(word) !== undefined,
    informationIn(word) {
      const rank = rankOf(word)
      if (rank === undefined) return 1
      const share = 1 - Math.exp((-wordsOfPassage * shareOfFirst) / rank)
      return Math.min(1, Math.max(0.1, Math.log(share) / Math.log(rareShare)))
    },
  }
}
