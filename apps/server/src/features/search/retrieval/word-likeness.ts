/** Letters at the end of a word that may be its form. */
const longestEnding = 3
const shortestForm = 3
/** Share of the longer of two forms that is the same, so that short words differ by a letter or two only. */
const leastSame = 0.6

/** Whether two words are likely forms of one: the same but for short endings. */
export function isForm(left: string, right: string): boolean {
  if (left === right) return true
  const shorter = Math.min(left.length, right.length)
  const longer = Math.max(left.length, right.length)
  if (shorter < shortestForm || longer - shorter > longestEnding) return false
  let same = 0
  while (same < shorter && left[same] === right[same]) same++
  return same >= shortestForm && longer - same <= longestEnding && same >= longer * leastSame
}

/** What every form of a word begins with. */
export function likelyBeginning(word: string): string {
  return word.slice(0, Math.max(shortestForm, Math.ceil(word.length * leastSame)))
}

const gramLength = 4
const fewestGrams = 3

/** Words with a smaller share of the runs of letters in common are alike by chance. */
export const leastAlike = 0.5

/** The runs of four letters of a word, spaces around it included; none of a short word. */
export function toGrams(word: string): string[] {
  const padded = ` ${word} `
  const amount = padded.length - gramLength + 1
  if (amount < fewestGrams) return []
  return Array.from({ length: amount }, (_, at) => padded.slice(at, at + gramLength))
}

/** The letters of a word as bits, of which some stand for several letters. */
export function letterSet(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

/** How many bits of a number are set. */
export function countBits(bits: number): number {
  let rest = bits
  let count = 0
  for (; rest !== 0; count++) rest &= rest - 1
  return count
}
