import { setImmediate } from 'node:timers/promises'
import { normalise } from '@botstead/documents/text'
import { hashWord } from './gram-hash.js'

/** Facts about the words of languages, independent of the passages of a bot. */
export interface KnownWords {
  /** Whether a word, or one of which it is a regular form, belongs to a language. */
  has(word: string): boolean
  /**
   * The information of a word about the subject of a text, from above 0 to 1: little if any text may have it, and all if it
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
  loading ??= load().catch((error) => {
    // The next search tries again, once the process has files to open, for example.
    loading = undefined
    throw error
  })
  return loading
}

/** The lists of a language each, with the most common word first. */
const lists = [
  () => import('@zxcvbn-ts/language-en/dist/commonWords.json.js'),
  () => import('@zxcvbn-ts/language-en/dist/wikipedia.json.js'),
  () => import('@zxcvbn-ts/language-de/dist/commonWords.json.js'),
  () => import('@zxcvbn-ts/language-de/dist/wikipedia.json.js'),
]
/** Words of all lists, at least. */
const listedWords = 134_000

async function load(): Promise<KnownWords> {
  const ranks = createRanks(listedWords)
  for (const read of lists) {
    addWords(ranks, (await read()).default)
    // On PostgreSQL this is the event loop of the server, which others need between two lists.
    await setImmediate()
  }
  return toKnownWords(ranks)
}

/** @param lists words of a language each, the most common first */
export function createKnownWords(lists: readonly (readonly string[])[]): KnownWords {
  const ranks = createRanks(lists.reduce((sum, { length }) => sum + length, 0))
  for (const words of lists) addWords(ranks, words)
  return toKnownWords(ranks)
}

function addWords(ranks: Ranks, words: readonly string[]): void {
  for (const [at, word] of words.entries()) {
    ranks.add(plainWord.test(word) ? word : normalise(word), at + 1)
  }
}

function toKnownWords(ranks: Ranks): KnownWords {
  const rankOf = (word: string) => {
    const rank = ranks.get(word)
    if (rank > 0) return rank
    for (const ending of endings) {
      const stem = word.slice(0, -ending.length)
      if (stem.length < shortestStem || !word.endsWith(ending)) continue
      const found = ranks.get(stem) || ranks.get(`${stem}e`)
      if (found > 0) return found
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

interface Ranks {
  /** Keeps the lowest rank of a word, from 1. */
  add(word: string, rank: number): void
  /** 0 for an unknown word. */
  get(word: string): number
}

/** Normalising leaves such words as they are. */
const plainWord = /^[a-z]+$/

/**
 * The ranks of words by their hashes, in two arrays: a map of as many strings would hold the event loop of a server ten times as long, and
 * take ten times the memory of each thread that searches. One of forty thousand other words has the hash of one of these.
 */
function createRanks(words: number): Ranks {
  const size = 2 ** Math.ceil(Math.log2(2 * words + 2))
  const hashes = new Uint32Array(size)
  const ranks = new Uint32Array(size)
  const placeOf = (hash: number) => {
    let place = hash % size
    while ((ranks[place] ?? 0) > 0 && hashes[place] !== hash) place = (place + 1) % size
    return place
  }
  return {
    add(word, rank) {
      const hash = hashWord(word)
      const place = placeOf(hash)
      const known = ranks[place] ?? 0
      if (known > 0 && known <= rank) return
      hashes[place] = hash
      ranks[place] = rank
    },
    get: (word) => ranks[placeOf(hashWord(word))] ?? 0,
  }
}
