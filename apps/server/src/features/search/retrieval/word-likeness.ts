import { gramLength } from './gram-hash.js'

/** Most letters at the end of a word that may be an inflection. */
const longestEnding = 3
/** Letters that all forms of a word have in common, at least. */
export const shortestForm = 3
/** Common share of the longer of two forms, so that short words differ by only a letter or two. */
const leastSame = 0.6

/** Whether two words are likely forms of one word: equal except for short endings. */
export function isForm(left: string, right: string): boolean {
  if (left === right) return true
  const shorter = Math.min(left.length, right.length)
  const longer = Math.max(left.length, right.length)
  if (shorter < shortestForm || longer - shorter > longestEnding) return false
  let same = 0
  while (same < shorter && left[same] === right[same]) same++
  return same >= shortestForm && longer - same <= longestEnding && same >= longer * leastSame
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
