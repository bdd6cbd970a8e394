import { accented, fraction, joinMath, matrix, root, scripts } from '../document/linear-math.js'
import { attribute, descend, elements, textContent, type XmlElement } from './xml.js'

/** Parts of a formula that stand apart from a number or a word beside them. */
const apartElements: ReadonlySet<string> = new Set(['f', 'func', 'rad', 'nary', 'm', 'eqArr'])

/** A formula of Word or PowerPoint (OMML) in one line. */
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
