import type { Piece } from './pieces.js'

/** Raised or lowered text at the end of a segment. */
export interface Script {
  kind: 'raised' | 'lowered' | 'fraction'
  /** Offset of it in the text of the segment, its mark included. */
  at: number
  x0: number
  x1: number
  /** Whether a space is before it, so that it may be the upper part of a fraction. */
  isApart: boolean
  /** Whether what follows must not touch it. */
  isMarked: boolean
}

/** What raised text belongs to: the baseline and the size of the text beside it. */
interface Base {
  y: number
  size: number
}

/** Raised or lowered text is smaller than this share of the text beside it ... */
const maxSize = 0.85
/** ... and shifted by this share of its size: at least upwards, at least downwards, at most. */
const minRaise = 0.12
const minDrop = 0.05
const maxShift = 0.6
/** Endings of ordinal numbers, and signs that are always raised: the text is read without a mark. */
const ordinal = /^(?:st|nd|rd|th|er|re|e|è?me|o|a|os|as)\.?$/i
const raisedSigns = /^[^\p{L}\p{N}]+$|^(?:TM|SM)$/u
const loweredSigns: ReadonlyMap<string, string> = new Map(
  [...'0123456789+-=()'].map((sign, at) => [sign, [...'₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'][at] ?? sign]),
)

/** Whether a piece is raised above or lowered below the text beside it. */
export function scriptKind(piece: Piece, base: Base): 'raised' | 'lowered' | undefined {
  if (piece.size >= base.size * maxSize) return undefined
  const shift = (base.y - piece.y) / base.size
  if (shift >= minRaise && shift <= maxShift) return 'raised'
  return shift <= -minDrop && shift >= -maxShift ? 'lowered' : undefined
}

/** Whether a piece stands above or below the script before it, as a limit or the lower part of a fraction. */
export function isStacked(script: Script, piece: Piece, kind: Script['kind']): boolean {
  if (script.kind === kind || script.kind === 'fraction') return false
  return piece.x < script.x1 && piece.x + piece.width > script.x0
}

/**
 * Adds raised or lowered text so that it can be distinguished: `10^6`, `H₂O`, `x_i`, and `1/2` for a small
 * fraction.
 *
 * @param isApart whether a space is before the piece
 */
export function withScript(
  text: string,
  script: Script | undefined,
  piece: Piece,
  { kind, isApart }: { kind: 'raised' | 'lowered'; isApart: boolean },
): { text: string; script: Script } {
  const own = piece.text.trim()
  const place = { x0: piece.x, x1: piece.x + piece.width }
  if (script !== undefined && isStacked(script, piece, kind)) {
    const isFraction = script.isApart || /\d$/.test(text.slice(0, script.at))
    if (script.kind === 'raised' && isFraction) {
      const above = text.slice(script.at).trim().replace(/^\^/, '')
      const before = text.slice(0, script.at).trimEnd()
      const whole = `${before}${before === '' ? '' : ' '}${inBrackets(above)}/${own}`
      return { text: whole, script: { ...script, kind: 'fraction', isMarked: true } }
    }
  } else if (script !== undefined && (script.kind === kind || script.kind === 'fraction')) {
    // The script goes on.
    const added = kind === 'lowered' && script.kind !== 'fraction' ? toLowered(own) : own
    return { text: text + added, script: { ...script, x1: place.x1 } }
  }
  const mark = kind === 'raised' ? toRaised(own, text) : toLowered(own)
  const isMarked = /^[_^]/.test(mark)
  const gap = isApart && !/\s$/.test(text) ? ' ' : ''
  return { text: text + gap + mark, script: { kind, at: text.length, ...place, isApart, isMarked } }
}

function toRaised(text: string, before: string): string {
  const isPlain = raisedSigns.test(text) || (ordinal.test(text) && /\d$/.test(before))
  return isPlain || before.trim() === '' ? text : `^${text}`
}

function toLowered(text: string): string {
  const signs = [...text].map((sign) => loweredSigns.get(sign))
  return signs.includes(undefined) ? `_${text}` : signs.join('')
}

/** Brackets around the part of a fraction that has several terms. */
export function inBrackets(text: string): string {
  return /[\s+\u2212-]/.test(text) ? `(${text})` : text
}
