import type { Span } from '../document/nodes.js'
import { raise } from './phrases.js'

/** A span that may be raised or lowered. */
export type PlacedSpan = Span & { position?: 'raised' | 'lowered' }

/** Spans in which raised and lowered text is marked, such as `^2`, or written as superscripts and subscripts. */
export function levelSpans(spans: readonly PlacedSpan[]): Span[] {
  if (!spans.some((span) => span.position !== undefined)) return [...spans]
  const joined = joinRaised(spans)
  const level: Span[] = []
  joined.forEach((placed, at) => {
    const { position, ...span } = placed
    if (position === undefined || span.node !== undefined || span.text.trim() === '') {
      level.push(span)
      return
    }
    const before = textOf(level.at(-1))
    const after = textOf(joined[at + 1])
    if (isFractionPart(joined, at)) {
      const isMixed = position === 'raised' && /\p{N}$/u.test(before)
      level.push({ ...span, text: `${isMixed ? ' ' : ''}${span.text.trim()}` })
      return
    }
    const text = raise(position === 'raised' ? 'sup' : 'sub', span.text, before, after)
    level.push({ ...span, text: /^\s/.test(after) ? text.trimEnd() : text })
  })
  return level
}

/** Office programs break one number into several spans. */
function joinRaised(spans: readonly PlacedSpan[]): PlacedSpan[] {
  const joined: PlacedSpan[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    const isSame = span.position !== undefined && last?.position === span.position
    if (isSame && span.node === undefined && last.node === undefined) last.text += span.text
    else joined.push({ ...span })
  }
  return joined
}

/** Whether a span is the raised or the lowered number of a fraction such as ¹/₂. */
function isFractionPart(spans: readonly PlacedSpan[], at: number): boolean {
  const isUpper = spans[at]?.position === 'raised'
  const slash = spans[isUpper ? at + 1 : at - 1]
  const other = spans[isUpper ? at + 2 : at - 2]
  if (slash === undefined || slash.position !== undefined) return false
  return /^[/⁄∕]$/.test(slash.text) && other?.position === (isUpper ? 'lowered' : 'raised')
}

function textOf(span: PlacedSpan | undefined): string {
  return span === undefined || span.node !== undefined ? '' : span.text
}
