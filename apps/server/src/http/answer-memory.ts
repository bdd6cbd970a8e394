import { LRUCache } from 'lru-cache'

/**
 * Names the state of all that an answer is made of: while it is the same, so is the answer to the
 * same request. It says whose data that is, too, so that nobody gets the answer of somebody else.
 * Undefined where the state cannot be told; nothing is remembered then.
 */
export type Revision<Actor> = (actor: Actor) => string | undefined

/** Texts of answers that were given at the newest revision. */
export interface AnswerMemory {
  find(revision: string, url: string): string | undefined
  keep(revision: string, url: string, answer: string): void
}

const maxCharacters = 8 * 1024 * 1024

interface Kept {
  revision: string
  answer: string
}

/** Lists that are asked for again and again while nothing changed are not read and written anew. */
export function createAnswerMemory(): AnswerMemory {
  const answers = new LRUCache<string, Kept>({
    maxSize: maxCharacters,
    sizeCalculation: ({ answer }, url) => answer.length + url.length,
  })
  return {
    find: (revision, url) => {
      const kept = answers.get(url)
      return kept?.revision === revision ? kept.answer : undefined
    },
    keep: (revision, url, answer) => {
      answers.set(url, { revision, answer })
    },
  }
}
