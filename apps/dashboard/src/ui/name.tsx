/** Letters that are written from right to left: Hebrew, Arabic and their kin. */
const rightToLeft =
  '[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufeff\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]'

/**
 * Invisible characters that rearrange the text around them: embeddings, overrides and isolates always, and marks of
 * direction unless the nearest letter on either side is written from right to left, where names need them.
 */
const rearranging = new RegExp(
  `[\\u202a-\\u202e\\u2066-\\u2069]|(?<!(?=${rightToLeft})\\p{L}\\P{L}*)[\\u061c\\u200e\\u200f](?!\\P{L}*(?=${rightToLeft})\\p{L})`,
  'gu',
)

/**
 * A name that somebody else chose, as it is shown: characters that would make it look like another one are written
 * out, as in `invoice_[U+202E]fdp.exe`.
 */
export function shownName(name: string): string {
  return name.replace(
    rearranging,
    (found) => `[U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
  )
}

/** A name that somebody else chose: it reads in its own direction and leaves the text beside it in order. */
export function Name({ children }: { children: string }) {
  return <bdi>{shownName(children)}</bdi>
}
