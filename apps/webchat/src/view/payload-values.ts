import type { Payload } from '../shared/bridge.js'

/** Called when the user presses an option or a button, with its label and its value. */
export type Choose = (label: string, value: unknown) => void

/** Members of a payload: of any type, because bots may send anything. */
export type Members = Readonly<Record<string, unknown>>

/** Whether a value is a text that is not empty. */
export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The objects of a list; empty if the value is no list. */
export function objectsIn(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter((item) => Object(item) === item) : []
}

/** The parts of a bloc, whose members are either beside `type` or below `payload`. */
export function partsOf({ items }: Members): Payload[] {
  return objectsIn(items).map((item) => {
    const { type, payload } = item
    const members = Object(payload) === payload ? Object(payload) : item
    return { ...members, type: String(type) }
  })
}

/** The text of a message, for lists and announcements; undefined if it has none. */
export function textOf(payload: Payload | undefined): string | undefined {
  if (payload === undefined) return undefined
  if (payload.type === 'bloc') {
    const texts = partsOf(payload).map(textOf).filter(isFilled)
    return texts.length === 0 ? undefined : texts.join(' ')
  }
  if (payload.type === 'carousel') {
    return textOf({
      type: 'bloc',
      items: objectsIn(payload.items).map((card) => ({ ...card, type: 'card' })),
    })
  }
  const { text, markdown, title, subtitle } = payload
  const found = [text, markdown, title, subtitle].filter(isFilled)
  return found.length === 0 ? undefined : found.join(' ')
}
