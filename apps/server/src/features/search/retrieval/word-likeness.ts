import { gramLength } from './gram-hash.js'

/** Maximum number of letters at the end of a word that may be an inflection. */
const maxEnding = 3
/** Letters that all forms of a word have in common, at least. */
export const minFormLength = 3
/** Common share of the longer of two forms, so that short words differ by only a letter or two. */
const minSame = 0.6
/** Letters that two words have in common if each has an ending of its own. */
const shortestStem = 4

/** Endings in which the forms of words in Latin script differ: of English, Germanic and Romance languages. */
const endings: ReadonlySet<string> = new Set(
  ` e s es ed d ing er ers ly y ies ied al ar or n en ern em et r re st te ten ter t na ne nen ns in
    a o i u as os is us ai ais ait ant ee ees ie ir it on ons ez e i um
    ów y ow ami ach om mi j ja je lar ler in un den da de`
    .split(/\s+/)
    .concat(''),
)
const latinWord = /^[a-z]+$/

/** Whether two words are likely forms of one word: equal except for short endings. */
export function isForm(left: string, right: string): boolean {
  if (left === right) return true
  const shorter = Math.min(left.length, right.length)
  const longer = Math.max(left.length, right.length)
  if (shorter < minFormLength || longer - shorter > maxEnding) return false
  let same = 0
  while (same < shorter && left[same] === right[same]) same++
  const isAlike = same >= minFormLength && longer - same <= maxEnding && same >= longer * minSame
  return isAlike && endAsForms(left, right, same)
}

/** Whether the ends of two words are endings, as those of `changed` and `changing`, and not of `break` and `bread`. */
function endAsForms(left: string, right: string, same: number): boolean {
  const [one, other] = [left.slice(same), right.slice(same)]
  // Other scripts have no list: a short rest is an ending.
  if (!latinWord.test(one + other)) return true
  const isDoubled = (ending: string) => ending[0] === left[same - 1] && endings.has(ending.slice(1))
  const isEnding = (ending: string) => endings.has(ending) || isDoubled(ending)
  if (!isEnding(one) || !isEnding(other)) return false
  if (one === '' || other === '' || same >= shortestStem) return true
  // The one ending replaces the other: `use` and `using`.
  return (one === 'e' && /^[ei]/.test(other)) || (other === 'e' && /^[ei]/.test(one))
}

const minGrams = 3

/** Words with a smaller share of common grams are similar by chance. */
export const minAlike = 0.5

/** The runs of four letters of a word including the spaces around it; none for a short word. */
export function toGrams(word: string): string[] {
  const padded = ` ${word} `
  const amount = padded.length - gramLength + 1
  if (amount < minGrams) return []
  return Array.from({ length: amount }, (_, at) => padded.slice(at, at + gramLength))
}

/** The letters of a word as a bit set; some bits stand for several letters. */
export function letterSet(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

/** The number of set bits. */
export function countBits(bits: number): number {
  let rest = bits
  let count = 0
  for (; rest !== 0; count++) rest &= rest - 1
  return count
}
