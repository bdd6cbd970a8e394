import type { Span } from './nodes.js'

/** Endings that stand raised behind a number or an abbreviation and are read as one word with it. */
const raisedEndings =
  /^(?:st|nd|rd|th|er|re|ère|e|è|ème|eme|ième|ieme|o|a|os|as|me|lle|te|de|tm|sm|®|©|™|℠)$/iu
const plainAtom = /^[+\-−]?[\p{L}\p{N}]+$/u
const wordEnd = /[\p{L}\p{N}]$/u
const wordStart = /^[\p{L}\p{N}]/u

/**
 * Text with a raised or lowered part behind it: `10^6`, `x^(n+1)`, `x_i`. Without the sign, 10 to the power
 * of 6 would be 106. A raised ending such as _st_, and the number of a formula such as H₂O, stay as they are.
 *
 * @param before the text in front of the part
 * @param after the text behind it
 * @returns the part with what separates it
 */
export function raisedText(
  part: string,
  position: 'raised' | 'lowered',
  before: string,
  after: string,
): string {
  const text = part.trim()
  if (!/[\p{L}\p{N}]/u.test(text) || !/[\p{L}\p{N}\p{M})\]}%°"”’'.]$/u.test(before)) return part
  if (position === 'raised' && raisedEndings.test(text) && wordEnd.test(before)) return part
  const isFollowed =
    part.endsWith(text) && wordStart.test(after) && /\p{N}$/u.test(text) === /^\p{N}/u.test(after)
  if (position === 'lowered' && !isFollowed && /^\p{N}+$/u.test(text) && /\p{L}$/u.test(before)) {
    return part
  }
  const sign = position === 'raised' ? '^' : '_'
  const atom = plainAtom.test(text) && !isFollowed ? text : `(${text})`
  return part.replace(text, () => `${sign}${atom}`)
}

/** A span that may be raised or lowered. */
export type PlacedSpan = Span & { position?: 'raised' | 'lowered' }

/** Spans in which raised and lowered text is told apart from the text beside it. */
export function levelSpans(spans: readonly PlacedSpan[]): Span[] {
  if (!spans.some((span) => span.position !== undefined)) return [...spans]
  const level: Span[] = []
  for (let at = 0; at < spans.length; at += 1) {
    const { position, ...span } = spans[at] ?? { text: '' }
    if (position === undefined || span.node !== undefined) {
      level.push(span)
      continue
    }
    // Office programs break one number into several spans.
    let text = span.text
    while (spans[at + 1]?.position === position && spans[at + 1]?.node === undefined) {
      at += 1
      text += spans[at]?.text ?? ''
    }
    const before = level.at(-1)
    const after = spans[at + 1]
    level.push({
      ...span,
      text: raisedText(
        text,
        position,
        before?.node === undefined ? (before?.text ?? '') : '',
        after?.node === undefined ? (after?.text ?? '') : '',
      ),
    })
  }
  return level
}
