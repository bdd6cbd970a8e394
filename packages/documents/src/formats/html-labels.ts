import { isElement } from './html-tree.js'
import type { XmlElement } from './xml.js'

/** Numbers of items that a list cannot have in Markdown: letters, Roman ones, backwards or with gaps. */
const writtenLabels = /^[aAiI]$/

/** The number of the first item of an ordered list. */
export function firstNumber({ attributes, children }: XmlElement): number {
  const first = children.find((child) => isElement(child, 'li'))
  const stated = (isElement(first) ? first.attributes.value : undefined) ?? attributes.start ?? ''
  const number = Number.parseInt(stated, 10)
  return Number.isNaN(number) ? 1 : number
}

/** The labels of the items as a browser shows them, where they are not simply counted. */
export function labelsOf(element: XmlElement): string[] | undefined {
  if (element.name !== 'ol') return undefined
  const { type = '1', reversed } = element.attributes
  const items = element.children.filter((child) => isElement(child, 'li'))
  const hasGap = items.some((item, at) => at > 0 && item.attributes.value !== undefined)
  if (!writtenLabels.test(type) && reversed === undefined && !hasGap) return undefined
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

const romanSigns: readonly [number, string][] = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
]

function labelOf(number: number, type: string): string {
  const isLetter = /^a$/i.test(type)
  if (!writtenLabels.test(type) || number < 1 || number > 3999) return String(number)
  const label = isLetter ? letters(number) : roman(number)
  return type === 'a' || type === 'i' ? label.toLowerCase() : label
}

function letters(number: number): string {
  let label = ''
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    label = String.fromCharCode(65 + ((rest - 1) % 26)) + label
  }
  return label
}

function roman(number: number): string {
  let rest = number
  let label = ''
  for (const [value, sign] of romanSigns) {
    while (rest >= value) {
      label += sign
      rest -= value
    }
  }
  return label
}
