import { type ContextOptions, toIndexFields } from './chunk/index-fields.js'
import type { PassageText, PassageWords } from './ingest-task.js'
import { toNewWords } from './text/words.js'

/** Makes what lists the words of passages, one passage of a file after the other. */
export function createWordLister(options: ContextOptions): (passage: PassageText) => PassageWords {
  const known = new Set<string>()
  return (passage) => {
    const fields = toIndexFields(passage, options)
    return { fields, words: toNewWords(`${fields.headings} ${fields.body}`, known) }
  }
}
