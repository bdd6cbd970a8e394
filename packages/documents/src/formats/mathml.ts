import { classesOf, find, isElement, lineOf, type PageNode, textOf } from './html-tree.js'
import type { XmlElement } from './xml.js'

/** Elements in which programs show one formula several times: as MathML, as a picture, as boxes. */
const formulaClasses: ReadonlySet<string> = new Set(
  'katex mwe-math-element mathjax mathjax_display mathjax_svg mathjax_svg_display mathjax_chtml'.split(
    ' ',
  ),
)
const formulaScript = /^math\/(?:tex|asciimath)/i

/** The formula that an element stands for, in one line; undefined if it is no formula. */
export function readFormula(element: XmlElement): { text: string; isBlock: boolean } | undefined {
  if (element.name === 'math') {
    return { text: formulaText(element), isBlock: element.attributes.display === 'block' }
  }
  if (element.name === 'script') {
    const { type = '' } = element.attributes
    if (!formulaScript.test(type)) return undefined
    return { text: `$${lineOf(element)}$`, isBlock: /display/.test(type) }
  }
  const isContainer =
    element.name === 'mjx-container' ||
    classesOf(element).some((name) => formulaClasses.has(name.toLowerCase()))
  const math = isContainer ? find(element, ({ name }) => name === 'math') : undefined
  return math && readFormula(math)
}

/** Whether an element shows a formula that the script after it states, as in pages of MathJax 2. */
export function isFormulaPreview(element: XmlElement): boolean {
  return classesOf(element).some((name) => /^mathjax_preview$/i.test(name))
}

/** The source of a formula in TeX if the page has it, else the formula in one line. */
function formulaText(math: XmlElement): string {
  const source = find(
    math,
    ({ name, attributes }) => name === 'annotation' && /tex/i.test(attributes.encoding ?? ''),
  )
  const tex = source === undefined ? math.attributes.alttext : textOf(source)
  const stated = (tex ?? '').replace(/\s+/g, ' ').trim()
  if (stated === '') return linear(math).trim()
  return `$${/^\{\\(?:display|text)style (.*)\}$/.exec(stated)?.[1]?.trim() ?? stated}$`
}

/** A formula in one line: `(a+b)/c`, `x^2`, `√(2)`. */
function linear(node: PageNode): string {
  if (typeof node === 'string') return node.replace(/\s+/g, ' ').trim()
  const parts = node.children.filter((child): child is XmlElement => isElement(child))
  const part = (at: number) => {
    const child = parts[at]
    return child === undefined ? '' : linear(child)
  }
  switch (node.name) {
    case 'mi':
    case 'mn':
    case 'mo':
    case 'mtext':
    case 'ms':
      return sequence(node.children)
    case 'mfrac':
      return `${script(part(0))}/${script(part(1))}`
    case 'msup':
    case 'mover':
      return `${base(part(0))}^${script(part(1))}`
    case 'msub':
    case 'munder':
      return `${base(part(0))}_${script(part(1))}`
    case 'msubsup':
    case 'munderover':
      return `${base(part(0))}_${script(part(1))}^${script(part(2))}`
    case 'msqrt':
      return `√(${sequence(node.children)})`
    case 'mroot':
      return `root(${part(0)}, ${part(1)})`
    case 'mfenced':
      return fenced(node, parts)
    case 'mtable':
      return `[${parts.map(linear).join('; ')}]`
    case 'mtr':
    case 'mlabeledtr':
      return parts.map(linear).join(', ')
    case 'mmultiscripts':
      return [part(0), ...parts.slice(1).filter(isScript).map(linear)].join(' ')
    case 'semantics':
    case 'maction':
      return part(0)
    case 'annotation':
    case 'annotation-xml':
    case 'mphantom':
      return ''
    default:
      return sequence(node.children)
  }
}

function isScript({ name }: XmlElement): boolean {
  return name !== 'mprescripts' && name !== 'none'
}

/** Parts beside each other. Parts that would join to one word or number stay apart; `2x` is written so. */
function sequence(nodes: readonly PageNode[]): string {
  let text = ''
  for (const node of nodes) {
    // Function application, invisible times, separator and plus.
    const next = linear(node).replace(/[\u2061-\u2064]/g, ' ')
    const isGlued =
      /[\p{L}\p{N}]$/u.test(text) && /^[\p{L}\p{N}]/u.test(next) && !isFactor(text, next)
    text += isGlued ? ` ${next}` : next
  }
  return text.replace(/ {2,}/g, ' ')
}

function isFactor(text: string, next: string): boolean {
  return /(?:^|[^\p{L}\p{N}.^_])\p{N}+$/u.test(text) && /^\p{L}(?![\p{L}\p{N}])/u.test(next)
}

function fenced({ attributes }: XmlElement, parts: readonly XmlElement[]): string {
  const separator = (attributes.separators ?? ',').trim().charAt(0)
  const inner = parts.map(linear).join(`${separator} `)
  return `${attributes.open ?? '('}${inner}${attributes.close ?? ')'}`
}

const singlePart = /^(?:[\p{L}\p{N}.,]+|\([^()]*\)|.)$/u

/** A part of a formula, in brackets if it has several parts. */
function script(text: string): string {
  return singlePart.test(text) ? text : `(${text})`
}

function base(text: string): string {
  return /[\s/+−-]/.test(text) && !singlePart.test(text) ? `(${text})` : text
}
