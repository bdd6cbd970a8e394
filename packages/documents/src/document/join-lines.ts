const unspacedScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u
const softHyphen = /[\u00ad\u2010-]$/
const wordPattern = /\p{L}[\p{L}\p{N}]*(?:-[\p{L}\p{N}]+)*/gu

/** The end of a line that is cut within a number or a code: `4711-` before `AB`. */
const cutCode = /(?:^|[^\p{L}\p{N}])[\p{L}\p{N}/.-]{0,30}\p{N}[\u2010-]$/u
/** Words that are mostly the last part of a compound with a hyphen: `battery-driven`, `long-term`. */
const lastOfCompound: ReadonlySet<string> = new Set(
  (
    'aware based driven efficient free friendly intensive known level oriented powered related resistant sized ' +
    'specific term'
  ).split(' '),
)
/** Beginnings that make one word with them: `correlated`, `undersized`. */
const beginnings: ReadonlySet<string> = new Set('cor dis inter mis out over pre under'.split(' '))
/** Characters at the end of a line in which its last word begins. */
const maxWord = 300
/** Letters of the first part of such a compound; shorter ones are `un` and the like. */
const minFirstPart = 3

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

  /** The text between two lines; `cut` replaces the hyphen of the first one. */
  function jointOf(end: string, next: string): '' | ' ' | 'cut' {
    const head = /(\p{L}[\p{L}\p{N}-]*)[\u00ad\u2010-]$/u.exec(end)?.[1]
    const tail = /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/u.exec(next)?.[0]
    if (tail !== undefined && cutCode.test(end.slice(-40))) return ''
    if (head === undefined || tail === undefined || !softHyphen.test(end)) {
      const isUnspaced = unspacedScripts.test(end.slice(-1)) && unspacedScripts.test(next.charAt(0))
      return isUnspaced ? '' : ' '
    }
    const isSoft = end.endsWith('\u00ad')
    const keepsHyphen =
      !isSoft &&
      !isKnown(head + tail) &&
      (isKnown(`${head}-${tail}`) || !/^\p{Ll}/u.test(tail) || isCompound(head, tail))
    return keepsHyphen ? '' : 'cut'
  }

  return {
    join(lines) {
      const parts: string[] = []
      // Of the text so far: each line is joined with its end only, so that long paragraphs take no longer per line.
      let end = ''
      for (const line of lines) {
        const joint = end === '' ? '' : jointOf(end, line)
        if (joint === 'cut') {
          parts.push((parts.pop() ?? '').slice(0, -1))
          end = end.slice(0, -1)
        }
        const part = joint === 'cut' ? line : joint + line
        parts.push(part)
        end = (end + part).slice(-maxWord)
      }
      return parts.join('')
    },
  }
}

/** Whether two parts are more likely words of their own than the halves of a hyphenated one. */
function isCompound(head: string, tail: string): boolean {
  const first = (head.split('-').at(-1) ?? head).toLowerCase()
  // No word is hyphenated after its first letter: `e-mail`.
  if (first.length === 1) return true
  if (first.length < minFirstPart || beginnings.has(first)) return false
  return lastOfCompound.has(tail)
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
