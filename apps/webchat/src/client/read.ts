import type { Configuration, Payload } from '../shared/bridge.js'
import type { Message } from './wire.js'

const texts = [
  'botName',
  'botAvatar',
  'botDescription',
  'color',
  'themeMode',
  'position',
  'language',
  'greeting',
  'composerPlaceholder',
  'footer',
  'fontFamily',
  'additionalStylesheet',
] as const
const switches = ['allowFileUpload', 'feedbackEnabled', 'conversationHistory'] as const
const links = ['email', 'phone', 'website', 'termsOfService', 'privacyPolicy'] as const

/** What is known of a configuration, whoever wrote it: members of other types and names are left out. */
export function readConfiguration(given: unknown): Configuration {
  const source: Record<string, unknown> = Object(given)
  const pick = (names: readonly string[], isValid: (value: unknown) => boolean) =>
    names.filter((name) => isValid(source[name])).map((name) => [name, source[name]] as const)
  const { suggestedQuestions: questions } = source
  return Object.fromEntries([
    ...pick(texts, (value) => typeof value === 'string'),
    ...pick(switches, (value) => typeof value === 'boolean'),
    ...pick(links, (value) => Object(value) === value),
    ...pick(['radius'], Number.isFinite),
    ...(Array.isArray(questions)
      ? [['suggestedQuestions', questions.filter((each) => typeof each === 'string')] as const]
      : []),
  ])
}

/** A message as the server sent it; undefined if it has no id. What is no payload becomes one of no known type. */
export function readMessage(given: unknown): Message | undefined {
  const { id, payload, ...rest } = Object(given)
  if (typeof id !== 'string') return undefined
  return { ...rest, id, payload: readPayload(payload) }
}

function readPayload(given: unknown): Payload {
  const payload = Object(given)
  return typeof payload.type === 'string' ? payload : { ...payload, type: 'unknown' }
}
