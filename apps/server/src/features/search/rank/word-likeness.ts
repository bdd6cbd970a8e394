/** Letters at the end of a word that may be its form. */
const longestEnding = 3
const shortestForm = 3

/** Whether two words are likely forms of one: the same but for short endings. */
export function isForm(left: string, right: string): boolean {
  if (left === right) return true
  const shorter = Math.min(left.length, right.length)
  const longer = Math.max(left.length, right.length)
  if (shorter < shortestForm || longer - shorter > longestEnding) return false
  let same = 0
  while (same < shorter && left[same] === right[same]) same++
  // Three fifths, so that short words differ by a letter or two only.
  return same >= shortestForm && longer - same <= longestEnding && same * 5 >= longer * 3
}

const gramLength = 4
const fewestGrams = 3
/** Words with less in common are alike by chance. */
const leastAlike = 0.5

/** Compares words with one by their runs of four letters: the share of its own that they have, or 0. */
export function alikeness(word: string): (other: string) => number {
  const padded = ` ${word} `
  const grams = Array.from({ length: Math.max(0, padded.length - gramLength + 1) }, (_, at) =>
    padded.slice(at, at + gramLength),
  )
  if (grams.length < fewestGrams) return () => 0
  return (other) => {
    if (other.length < gramLength) return 0
    const letters = ` ${other} `
    const shared = grams.filter((gram) => letters.includes(gram)).length / grams.length
    return shared >= leastAlike ? shared : 0
  }
}
