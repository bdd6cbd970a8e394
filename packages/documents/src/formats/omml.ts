import { attribute, descend, elements, textContent, type XmlElement } from './xml.js'

/** Parts of a formula that stand apart from a number or a word beside them. */
const apartElements: ReadonlySet<string> = new Set(['f', 'func', 'rad', 'nary', 'm', 'eqArr'])

/** A formula of Word or PowerPoint (OMML) in one line, as people type it: `(a+b)/c`, `x^2`, `∑_(i=1)^n`. */
export function formulaText(element: XmlElement): string {
  return joinMath(
    elements(element).map((child) => ({
      text: partText(child),
      apart: apartElements.has(child.name) || child.name === 'oMath',
    })),
  )
}

function partText(element: XmlElement): string {
  // The properties of a part, such as `fPr`, have no text.
  if (element.name.endsWith('Pr')) return ''
  const inner = (name: string) => {
    const found = descend(element, name)
    return found === undefined ? '' : formulaText(found)
  }
  switch (element.name) {
    case 'r':
      return runText(element)
    case 't':
      return textContent(element)
    case 'f':
      return propertyOf(element, 'fPr', 'type') === 'noBar'
        ? `(${inner('num')} over ${inner('den')})`
        : fraction(inner('num'), inner('den'))
    case 'sSup':
    case 'sSub':
    case 'sSubSup':
      return scripts(inner('e'), inner('sub'), inner('sup'))
    case 'sPre':
      return `${scripts('', inner('sub'), inner('sup'))} ${inner('e')}`
    case 'rad':
      return root(inner('e'), inner('deg'))
    case 'nary': {
      const sign = propertyOf(element, 'naryPr', 'chr') ?? '∫'
      return `${scripts(sign, inner('sub'), inner('sup'))} ${inner('e')}`
    }
    case 'limLow':
      return scripts(inner('e'), inner('lim'), '')
    case 'limUpp':
      return scripts(inner('e'), '', inner('lim'))
    case 'func':
      return `${inner('fName')} ${inner('e')}`
    case 'acc':
      return accented(inner('e'), propertyOf(element, 'accPr', 'chr') ?? '\u0302')
    default:
      return bracketText(element) ?? formulaText(element)
  }
}

/** Parts with brackets, or with several parts in rows. */
function bracketText(element: XmlElement): string | undefined {
  switch (element.name) {
    case 'd': {
      const separator = propertyOf(element, 'dPr', 'sepChr') ?? '|'
      const parts = elements(element, 'e').map(formulaText)
      const begin = propertyOf(element, 'dPr', 'begChr') ?? '('
      const end = propertyOf(element, 'dPr', 'endChr') ?? ')'
      return `${begin}${parts.join(separator)}${end}`
    }
    case 'm':
      return matrix(elements(element, 'mr').map((row) => elements(row, 'e').map(formulaText)))
    case 'eqArr':
      return elements(element, 'e').map(formulaText).join('; ')
    case 'phant': {
      const show = descend(element, 'phantPr', 'show')
      const isHidden = ['0', 'false', 'off'].includes(attribute(show, 'val') ?? '')
      return isHidden ? '' : formulaText(element)
    }
    default:
      return undefined
  }
}

function runText(element: XmlElement): string {
  return elements(element)
    .map((child) => {
      if (child.name === 't') return textContent(child)
      return ['br', 'tab', 'cr'].includes(child.name) ? ' ' : ''
    })
    .join('')
}

function propertyOf(element: XmlElement, properties: string, name: string): string | undefined {
  const property = descend(element, properties, name)
  return property === undefined ? undefined : (attribute(property, 'val') ?? '')
}

const atom = /^[\p{L}\p{N}\p{M}.,]+$/u
const bracketed = /^(?:\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}|\|[^|]*\|)$/u

/** A part of a formula that must not fall apart, in brackets unless it is one word or number. */
function group(text: string): string {
  const part = text.trim()
  return part === '' || atom.test(part) || bracketed.test(part) ? part : `(${part})`
}

/** A fraction in one line. */
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
  const plain = bracketed.test(inner) ? inner : `(${inner})`
  const index = degree.trim()
  return index === '' || index === '2' ? `√${plain}` : `root(${inner}, ${index})`
}

function matrix(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map((cell) => cell.trim()).join(', ')).join('; ')
}

/** A letter with a mark above it; of several letters only they. */
function accented(base: string, mark: string): string {
  const text = base.trim()
  return [...text].length === 1 && /^\p{M}$/u.test(mark) ? `${text}${mark}` : text
}

/** Joins the parts of a formula; words and numbers stay apart where a fraction or a function begins. */
function joinMath(parts: readonly { text: string; apart?: boolean }[]): string {
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
