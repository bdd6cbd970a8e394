import { writeNumber } from '../document/numbering-formats.js'
import { isElement } from './html-tree.js'
import type { XmlElement } from './xml.js'

/** Formats of numbers by the `type` of a list. */
const formats: Readonly<Record<string, string>> = {
  a: 'lowerColumn',
  A: 'upperColumn',
  i: 'lowerRoman',
  I: 'upperRoman',
}

/** The number of the first item of an ordered list. */
export function firstNumber({ attributes, children }: XmlElement): number {
  const first = children.find((child) => isElement(child, 'li'))
  const stated = (isElement(first) ? first.attributes.value : undefined) ?? attributes.start ?? ''
  const number = Number.parseInt(stated, 10)
  return Number.isNaN(number) ? 1 : number
}

/** The labels of the items as a browser shows them, where Markdown has none such: letters, Roman, backwards, with gaps. */
export function labelsOf(element: XmlElement): string[] | undefined {
  if (element.name !== 'ol') return undefined
  const { type = '1', reversed } = element.attributes
  const items = element.children.filter((child) => isElement(child, 'li'))
  const hasGap = items.some((item, at) => at > 0 && item.attributes.value !== undefined)
  if (!Object.hasOwn(formats, type) && reversed === undefined && !hasGap) return undefined
  const step = reversed === undefined ? 1 : -1
  const isCountedDown = reversed !== undefined && element.attributes.start === undefined
  let next = isCountedDown ? items.length : firstNumber(element)
  return items.map((item) => {
    const value = Number.parseInt(item.attributes.value ?? '', 10)
    const number = Number.isNaN(value) ? next : value
    next = number + step
    return `${labelOf(number, type)}.`
  })
}

function labelOf(number: number, type: string): string {
  const format = Object.hasOwn(formats, type) ? formats[type] : undefined
  // Browsers write no larger Roman numbers.
  return format === undefined || number > 3999 ? String(number) : writeNumber(number, format)
}
