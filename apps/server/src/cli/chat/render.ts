import { printable } from '../../platform/terminal-text.js'

/** An option that is chosen by its number. */
export interface Choice {
  label: string
  /** The text that is sent when it is chosen. */
  value: string
}

/** A message as text, and the options in it. */
export interface Rendered {
  text: string
  choices: Choice[]
}

type Members = Record<string, unknown>

/** Renders any payload as text; unknown types show their content. */
export function render(payload: Members): Rendered {
  const choices: Choice[] = []
  return { text: printable(write(payload, choices)), choices }
}

function write(payload: Members, choices: Choice[]): string {
  const { type, title, text } = payload
  switch (type) {
    case 'text':
      return words(text)
    case 'markdown':
      return words(payload.markdown)
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return line(`[${type}]`, title, payload[`${type}Url`])
    case 'location': {
      const coordinates = `(${words(payload.latitude)}, ${words(payload.longitude)})`
      return line('[location]', title, payload.address, coordinates)
    }
    case 'card':
      return writeCard(payload, choices)
    case 'carousel':
      return list(payload.items)
        .map((item) => writeCard(item, choices))
        .join('\n\n')
    case 'choice':
    case 'dropdown':
      return [words(text), ...list(payload.options).map((option) => offer(option, choices))].join(
        '\n',
      )
    case 'bloc':
      return list(payload.items)
        .map((item) => write(item, choices))
        .join('\n')
    default: {
      const { type: _, ...rest } = payload
      return line(`[${words(type)}]`, JSON.stringify(rest))
    }
  }
}

function writeCard({ title, subtitle, imageUrl, actions }: Members, choices: Choice[]): string {
  const lines = [
    words(title),
    words(subtitle),
    imageUrl === undefined ? '' : line('[image]', imageUrl),
    ...list(actions).map((action) =>
      action.action === 'url'
        ? line('  -', `${words(action.label)}:`, action.value)
        : offer(action, choices),
    ),
  ]
  return lines.filter((each) => each !== '').join('\n')
}

/** A line with the number of an option. */
function offer({ label, value }: Members, choices: Choice[]): string {
  choices.push({ label: words(label), value: words(value) })
  return `  ${choices.length}. ${words(label)}`
}

const line = (...parts: unknown[]): string =>
  parts
    .map(words)
    .filter((part) => part !== '')
    .join(' ')

const words = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function list(value: unknown): Members[] {
  if (!Array.isArray(value)) return []
  return value.filter((item) => typeof item === 'object' && item !== null)
}
