/** The payload of a message, by its type. Members may be missing or of any type, because bots may send anything. */
export type Payload = { type: string } & Members

type Members = Readonly<Record<string, unknown>>

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

export interface MediaContent {
  kind: 'media'
  media: MediaKind
  /** As the bot sent it: whoever shows it checks whether it may be loaded or opened. */
  url: string
  title: string | undefined
}

/** An option of a question, or a button of a card that sends a value. */
export interface Option {
  /** Not empty. */
  label: string
  /** As the bot sent it; undefined if it sent none. */
  value: unknown
}

/** A button of a card: one that opens an address, or one that sends a value. */
type CardAction = Option & { opensUrl: boolean }

export interface CardContent {
  kind: 'card'
  title: string | undefined
  subtitle: string | undefined
  imageUrl: string | undefined
  actions: readonly CardAction[]
}

/** The content that a message shows, with all members that its type requires. */
export type Content =
  | { kind: 'markdown'; text: string }
  | MediaContent
  | {
      kind: 'location'
      title: string | undefined
      address: string | undefined
      /** Undefined unless both numbers are finite. */
      position: { latitude: number; longitude: number } | undefined
    }
  | CardContent
  | { kind: 'carousel'; cards: readonly CardContent[] }
  | {
      kind: 'options'
      isDropdown: boolean
      text: string | undefined
      options: readonly Option[]
    }
  | { kind: 'bloc'; parts: readonly Content[] }
  /** An unknown type, or a payload that lacks what its type needs, with the text that it has nevertheless. */
  | { kind: 'unknown'; text: string | undefined; payload: Payload }

/** Levels of blocs inside of blocs that are read. */
const maxNesting = 3

/** Whether a value is a text that is not empty. */
export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/**
 * A value that a bot sent as a text: as it is, or as JSON. Not by `String`, which throws where the value has members
 * named as the methods that it calls.
 */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Reads a payload by its type. Never throws; a payload that does not fit its type becomes `unknown`. */
export function readContent(payload: Payload): Content {
  return readAt(payload, 0)
}

/** Images, recordings, videos and files of a message, also those inside of blocs. */
export function mediaIn(payload: Payload): MediaContent[] {
  const collect = (content: Content): MediaContent[] => {
    if (content.kind === 'bloc') return content.parts.flatMap(collect)
    return content.kind === 'media' ? [content] : []
  }
  return collect(readContent(payload))
}

/** The text of a message, for lists and announcements; undefined if it has none. */
export function textOf(payload: Payload | undefined): string | undefined {
  return payload === undefined ? undefined : textOfContent(readContent(payload))
}

function readAt(payload: Payload, depth: number): Content {
  return readKnown(payload, depth) ?? { kind: 'unknown', text: anyTextOf(payload), payload }
}

/** Undefined if the type is unknown, or the payload lacks what its type needs. */
function readKnown(payload: Payload, depth: number): Content | undefined {
  const { type, text, title, items } = payload
  switch (type) {
    case 'text':
    case 'markdown': {
      const given = payload[type]
      return isFilled(given) ? { kind: 'markdown', text: given } : undefined
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'file': {
      const url = payload[`${type}Url`]
      return isFilled(url) ? { kind: 'media', media: type, url, title: filled(title) } : undefined
    }
    case 'location':
      return readLocation(payload)
    case 'card':
      return isFilled(title) ? readCard(payload) : undefined
    case 'carousel': {
      const cards = objectsIn(items).map(readCard)
      return cards.length > 0 ? { kind: 'carousel', cards } : undefined
    }
    case 'choice':
    case 'dropdown': {
      const options = optionsIn(payload.options)
      if (!isFilled(text) && options.length === 0) return undefined
      return { kind: 'options', isDropdown: type === 'dropdown', text: filled(text), options }
    }
    case 'bloc':
      if (depth > maxNesting || !Array.isArray(items)) return undefined
      return { kind: 'bloc', parts: partsOf(items).map((part) => readAt(part, depth + 1)) }
    default:
      return undefined
  }
}

function readLocation({ latitude, longitude, title, address }: Members): Content | undefined {
  const position =
    isFiniteNumber(latitude) && isFiniteNumber(longitude) ? { latitude, longitude } : undefined
  if (position === undefined && !isFilled(title) && !isFilled(address)) return undefined
  return { kind: 'location', title: filled(title), address: filled(address), position }
}

function readCard({ title, subtitle, imageUrl, actions }: Members): CardContent {
  return {
    kind: 'card',
    title: filled(title),
    subtitle: filled(subtitle),
    imageUrl: filled(imageUrl),
    actions: objectsIn(actions).flatMap(({ action, label, value }) =>
      isFilled(label) ? [{ label, value, opensUrl: action === 'url' }] : [],
    ),
  }
}

function optionsIn(value: unknown): Option[] {
  return objectsIn(value).flatMap(({ label, value }) => (isFilled(label) ? [{ label, value }] : []))
}

/** The parts of a bloc, whose members are either beside `type` or below `payload`. */
function partsOf(items: readonly unknown[]): Payload[] {
  return objectsIn(items).map((item) => {
    const { type, payload } = item
    return { ...(isObject(payload) ? payload : item), type: typeof type === 'string' ? type : '' }
  })
}

function textOfContent(content: Content): string | undefined {
  switch (content.kind) {
    case 'markdown':
    case 'options':
    case 'unknown':
      return content.text
    case 'media':
      return content.title
    case 'location':
      return joined([content.title, content.address])
    case 'card':
      return joined([content.title, content.subtitle])
    case 'carousel':
      return joined(content.cards.map(textOfContent))
    case 'bloc':
      return joined(content.parts.map(textOfContent))
    default:
      return content satisfies never
  }
}

/** The text of a payload that cannot be shown by its type; a script that a payload names is never run. */
function anyTextOf({ text, markdown, title, data }: Payload): string | undefined {
  return [text, markdown, title, isObject(data) ? data.text : undefined].find(isFilled)
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const found = texts.filter(isFilled)
  return found.length === 0 ? undefined : found.join(' ')
}

function objectsIn(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function filled(value: unknown): string | undefined {
  return isFilled(value) ? value : undefined
}
