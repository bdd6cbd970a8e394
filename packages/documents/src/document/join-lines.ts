const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u
const softHyphen = /[\u00ad\u2010-]$/
const wordPattern = /\p{L}[\p{L}\p{N}]*(?:-[\p{L}\p{N}]+)*/gu

/** Joins the lines of a paragraph, and words that were hyphenated at their ends. */
export interface LineJoiner {
  join(lines: readonly string[]): string
}

/**
 * @param texts all lines of the document: the other occurrences of a word show whether its hyphen belongs
 *   to it
 */
export function createLineJoiner(texts: () => Iterable<string>): LineJoiner {
  let known: Set<string> | undefined
  const isKnown = (word: string): boolean => {
    known ??= wordsOf(texts())
    return known.has(word.toLowerCase())
  }

  function joinTwo(text: string, next: string): string {
    const head = /(\p{L}[\p{L}\p{N}-]*)[\u00ad\u2010-]$/u.exec(text)?.[1]
    const tail = /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/u.exec(next)?.[0]
    if (head === undefined || tail === undefined || !softHyphen.test(text)) {
      const isUnspaced =
        unspacedScripts.test(text.slice(-1)) && unspacedScripts.test(next.charAt(0))
      return isUnspaced ? text + next : `${text} ${next}`
    }
    const isSoft = text.endsWith('\u00ad')
    const keepsHyphen =
      !isSoft && !isKnown(head + tail) && (isKnown(`${head}-${tail}`) || !/^\p{Ll}/u.test(tail))
    return keepsHyphen ? text + next : text.slice(0, -1) + next
  }

  return {
    join: (lines) => lines.reduce((text, line) => (text === '' ? line : joinTwo(text, line)), ''),
  }
}

/** The words of texts, without hyphenated ones at the ends of lines. */
function wordsOf(texts: Iterable<string>): Set<string> {
  const words = new Set<string>()
  for (const text of texts) {
    const inside = text.replace(/\S+[\u00ad\u2010-]$/, '')
    for (const [word] of inside.matchAll(wordPattern)) words.add(word.toLowerCase())
  }
  return words
}
