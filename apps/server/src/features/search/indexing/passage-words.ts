import { type ContextOptions, toIndexFields, toNewWords } from '@botstead/documents/text'
import type { PassageText, PassageWords } from './ingest-task.js'

/**
 * Makes what lists the words of passages, one passage of a file after the other.
 *
 * @param key of the file
 */
export function createWordLister(
  key: string,
  options: ContextOptions,
): (passage: PassageText) => PassageWords {
  const known = new Set<string>()
  return (passage) => {
    const fields = toIndexFields(passage, key, options)
    return { fields, words: toNewWords(Object.values(fields).join(' '), known) }
  }
}
