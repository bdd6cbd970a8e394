import { normalise } from './normalise.js'
import { toIndexTokens, toRuns } from './tokens.js'

/**
 * The words of a text as both engines shall see them: lower case, without accents and punctuation,
 * separated by single spaces, CJK as pairs of characters. Neither the FTS5 tokenizer nor the
 * Postgres parser finds anything in it that they would cut differently.
 *
 * @param text plain text or Markdown; punctuation and Markdown marks are not indexed
 */
export function toIndexText(text: string): string {
  return toRuns(normalise(text)).flatMap(toIndexTokens).join(' ')
}
