import { raise } from '../formats/phrases.js'
import type { Piece } from './pieces.js'

/** Raised or lowered text at the end of a segment. */
export interface Script {
  kind: 'raised' | 'lowered' | 'fraction'
  /** The text that it stands at, and its own. */
  base: string
  inner: string
  x0: number
  x1: number
  /** Whether a space is before it, so that it may be the upper part of a fraction. */
  isApart: boolean
  /** Whether the next text must not touch it. */
  isMarked: boolean
}

/** The baseline and the size of the text beside raised text. */
interface Base {
  y: number
  size: number
}

/** Raised or lowered text is smaller than this share of the text beside it: browsers take 5/6, some programs 8/9 ... */
const maxSize = 0.9
/** ... and shifted by this share of its size: at least upwards, at least downwards, at most. */
const minRaise = 0.12
const minDrop = 0.05
const maxShift = 0.6
/** Signs that are part of a word with the letters after them, as in `H₂O`. */
const writtenDigits = /[\u00b2\u00b3\u00b9\u2070-\u208b]$/

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
  const x1 = piece.x + piece.width
  if (script?.kind === 'fraction') return { text: text + own, script: { ...script, x1 } }
  if (script?.kind === kind) {
    const longer = { ...script, inner: script.inner + own, x1 }
    return withMark(longer, script.base)
  }
  const isUpper = script?.kind === 'raised' && (script.isApart || /\d$/.test(script.base))
  if (script !== undefined && isUpper && isStacked(script, piece, kind)) {
    const before = script.base.trimEnd()
    const whole = `${before}${before === '' ? '' : ' '}${inBrackets(script.inner)}/${own}`
    return { text: whole, script: { ...script, kind: 'fraction', isMarked: true } }
  }
  const base = isApart && !/\s$/.test(text) ? `${text} ` : text
  return withMark({ kind, base, inner: own, x0: piece.x, x1, isApart, isMarked: true }, base)
}

function withMark(script: Script, base: string): { text: string; script: Script } {
  const kind = script.kind === 'lowered' ? 'sub' : 'sup'
  const text = base + raise(kind, script.inner, base, '').trimEnd()
  return { text, script: { ...script, isMarked: !writtenDigits.test(text) } }
}

/** Brackets around the part of a fraction that has several terms. */
export function inBrackets(text: string): string {
  return /[\s+\u2212-]/.test(text) ? `(${text})` : text
}
