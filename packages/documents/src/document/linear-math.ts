/** Writes formulas in one line, as people type them: `(a+b)/c`, `x^2`, `√(x)`, `∑_(i=1)^n`. */

const atom = /^[\p{L}\p{N}\p{M}.,]+$/u
const bracketed = /^(?:\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|\|[^|]*\|)$/u

/** A part of a formula that must not fall apart, in brackets unless it is one word or number. */
export function group(text: string): string {
  const part = text.trim()
  return part === '' || atom.test(part) || bracketed.test(part) ? part : `(${part})`
}

export function fraction(numerator: string, denominator: string): string {
  return `${group(numerator)}/${group(denominator)}`
}

/** @param lower subscript, empty if there is none; @param upper superscript, likewise */
export function scripts(base: string, lower: string, upper: string): string {
  const below = lower.trim() === '' ? '' : `_${group(lower)}`
  const above = upper.trim() === '' ? '' : `^${group(upper)}`
  const isOperator = /^[^\p{L}\p{N}]{1,2}$/u.test(base.trim())
  return `${isOperator ? base.trim() : group(base)}${below}${above}`
}

/** @param degree empty for a square root */
export function root(radicand: string, degree: string): string {
  const inner = radicand.trim()
  const index = degree.trim() === '' || degree.trim() === '2' ? '' : `[${degree.trim()}]`
  return `√${index}${bracketed.test(inner) ? inner : `(${inner})`}`
}

export function matrix(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map((cell) => cell.trim()).join(', ')).join('; ')
}

/** A letter with a mark above it; of several letters only they. */
export function accented(base: string, mark: string): string {
  const text = base.trim()
  return [...text].length === 1 && /^\p{M}$/u.test(mark) ? `${text}${mark}` : text
}

/** Joins the parts of a formula; words and numbers stay apart where a fraction or a function begins. */
export function joinMath(parts: readonly { text: string; apart?: boolean }[]): string {
  let whole = ''
  let wasApart = false
  for (const { text, apart = false } of parts) {
    if (text === '') continue
    const touches = /[\p{L}\p{N})]$/u.test(whole) && /^[\p{L}\p{N}(√]/u.test(text)
    whole += (apart || wasApart) && touches ? ` ${text}` : text
    wasApart = apart
  }
  return whole.replace(/\s+/g, ' ').trim()
}
