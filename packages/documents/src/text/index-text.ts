import { toJoined } from './joined.js'
import { isAscii, normalise } from './normalise.js'
import { toAsciiTokens, toIndexTokens, toRuns } from './tokens.js'

/**
 * The words of a text as both engines shall see them: lower case, without accents and punctuation,
 * separated by single spaces, CJK as pairs of characters, and once more in one what {@link toJoined} joins. Neither the FTS5 tokenizer nor the
 * Postgres parser finds anything in it that they would cut differently.
 *
 * @param text plain text or Markdown; punctuation and Markdown marks are not indexed
 */
export function toIndexText(text: string): string {
  return toText(normalise(text))
}

/**
 * As {@link toIndexText}, with `ä`, `ö` and `ü` as `a`, `o` and `u`: what models of meaning are made of. Those
 * that are stored know words in this form, and neighbours tell what a word means anyway.
 */
export function toFoldedText(text: string): string {
  return toText(normalise(text, 'folded'))
}

function toText(normalised: string): string {
  const tokens = isAscii(normalised)
    ? toAsciiTokens(normalised)
    : toRuns(normalised).flatMap(toIndexTokens)
  // At the end, where they part no words that stand together.
  return [...tokens, ...toJoined(normalised)].join(' ')
}
