import { classesOf, isElement, type PageNode, textOf } from './html-tree.js'
import { raise } from './phrases.js'
import type { XmlElement } from './xml.js'

const lineNumberClass =
  /^(?:line-?no|line-?nos|line-?numbers?|linenos?|linenodiv|linenumber|lineno|ln|lnt|gutter|blob-num|hljs-ln-numbers|rouge-gutter|line-numbers-rows|react-syntax-highlighter-line-number|gl)$/i
const numbersOnly = /^[\d\s.:|+-]*$/
/** Elements that begin a line of their own. */
const lineElements: ReadonlySet<string> = new Set('div p li tr pre ol ul table'.split(' '))

/** Whether an element holds line numbers of code and nothing else. */
function isLineNumbers(element: XmlElement): boolean {
  const isNamed =
    element.attributes['data-line-number'] !== undefined ||
    /user-select\s*:\s*none/i.test(element.attributes.style ?? '') ||
    classesOf(element).some((name) => lineNumberClass.test(name))
  return isNamed && numbersOnly.test(textOf(element))
}

/** The lines of a preformatted text as they are, without the numbers beside them. */
export function preformatted(element: XmlElement): string {
  const lines: string[] = []
  let line = ''
  let isOpen = false
  const end = () => {
    lines.push(line)
    line = ''
    isOpen = false
  }
  const addAll = ({ children }: XmlElement) => {
    children.forEach((child, at) => {
      add(child, children[at - 1], children[at + 1])
    })
  }
  const add = (node: PageNode, previous: PageNode | undefined, next: PageNode | undefined) => {
    if (typeof node === 'string') {
      const [first = '', ...rest] = node.split('\n')
      line += first
      for (const next of rest) {
        end()
        line = next
      }
      isOpen = line !== ''
      return
    }
    if (isLineNumbers(node)) return
    if (node.name === 'br') {
      end()
      return
    }
    if (node.name === 'sup' || node.name === 'sub') {
      const after = typeof next === 'string' ? next : isElement(next) ? textOf(next) : ''
      line += raise(node.name, textOf(node), line, after)
      isOpen = line !== ''
      return
    }
    const isLine =
      lineElements.has(node.name) ||
      (isLineSpan(node) && isElement(previous) && isLineSpan(previous))
    if (isLine && isOpen) end()
    if (isElement(node, 'td', 'th') && isOpen) line += '\t'
    addAll(node)
    if (lineElements.has(node.name) && isOpen) end()
  }
  addAll(element)
  lines.push(line)
  return trimLines(lines)
}

/** A line of highlighted code that its page lays out as a block. */
function isLineSpan(element: XmlElement): boolean {
  return element.name === 'span' && classesOf(element).includes('line')
}

/** Browsers ignore a line break at the beginning. */
function trimLines(lines: readonly string[]): string {
  const from = lines[0] === '' ? 1 : 0
  return lines.slice(from).join('\n').trimEnd()
}

/**
 * The code of a table that has numbers of lines in one column and the lines in another, all in one row or in a row each;
 * undefined if it is another table.
 */
export function codeOfTable(rows: readonly XmlElement[]): string | undefined {
  const cells = rows.map((row) => row.children.filter((cell) => isElement(cell, 'td', 'th')))
  const isNumbers = (cell: XmlElement) =>
    isLineNumbers(cell) || cell.children.some((child) => isElement(child) && isLineNumbers(child))
  const isCounted = (cell: XmlElement) => isNumbers(cell) || (rows.length === 1 && countsUp(cell))
  if (!cells.every((row) => row.length > 1 && row.some(isCounted))) return undefined
  const lines = cells.map((row) => row.filter((cell) => !isCounted(cell)))
  if (!lines.every((row) => row.length > 0 && row.every(isCode))) return undefined
  return lines
    .map((row) => row.map(preformatted).join('\t'))
    .join('\n')
    .trimEnd()
}

function isCode(cell: XmlElement): boolean {
  return hasCode(cell) || classesOf(cell).some((name) => /code|line/i.test(name))
}

/** Whether a cell is a preformatted column of numbers. */
function countsUp(cell: XmlElement): boolean {
  const numbers = textOf(cell).trim().split(/\s+/)
  const first = numbers[0] ?? ''
  const isNext = (each: string, at: number) => Number(each) === Number(first) + at
  return hasCode(cell) && /^\d+$/.test(first) && numbers.every(isNext)
}

function hasCode({ children }: XmlElement): boolean {
  return children.some(
    (child) => isElement(child, 'pre', 'code') || (isElement(child, 'div') && hasCode(child)),
  )
}
