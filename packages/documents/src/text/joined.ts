/** Thousands that are parted: `1.245`, `1,245`, `1 245`, `1'245`. */
const GROUPED = /(?<![\p{L}\p{N}.,_])\p{Nd}{1,3}(?:([.,' ’])\p{Nd}{3})(?:\1\p{Nd}{3})*(?!\p{N})/gu
/** Some letters and a number that people also write in one: `UTF-8`, `HP-400`. */
const LETTERS_AND_NUMBER = /(?<![\p{L}\p{N}])\p{L}{1,5}-\p{N}{1,6}(?![\p{L}\p{N}])/gu
const MAY_HAVE_ANY = /\p{N}[.,' ’]\p{N}{3}|\p{L}-\p{N}/u
const SEPARATORS = /[^\p{L}\p{N}]/gu

/**
 * Numbers and codes as one token, which are written with something between their parts: people ask for
 * `1245` and `utf8`, too.
 *
 * @param normalised in the form of `normalise`
 */
export function toJoined(normalised: string): string[] {
  if (!MAY_HAVE_ANY.test(normalised)) return []
  const found = [GROUPED, LETTERS_AND_NUMBER].flatMap((pattern) => normalised.match(pattern) ?? [])
  return [...new Set(found.map(join))]
}

/** The one token of a compound that is nothing but such a number or code. */
export function joinedAsWhole(compound: string): string | undefined {
  const [token, ...more] = toJoined(compound)
  return more.length === 0 && token === join(compound) ? token : undefined
}

function join(text: string): string {
  return text.replace(SEPARATORS, '')
}
