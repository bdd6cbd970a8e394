import type { Configuration, Payload } from '../shared/bridge.js'
import type { Message } from './api.js'

const stringMembers = [
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
const booleanMembers = ['allowFileUpload', 'feedbackEnabled', 'conversationHistory'] as const
const linkMembers = ['email', 'phone', 'website', 'termsOfService', 'privacyPolicy'] as const

/** The valid members of a configuration that a page or a bot sent; members with unknown names or of wrong types are omitted. */
export function parseConfiguration(value: unknown): Configuration {
  const source: Record<string, unknown> = Object(value)
  const pick = (names: readonly string[], isValid: (value: unknown) => boolean) =>
    names.filter((name) => isValid(source[name])).map((name) => [name, source[name]] as const)
  const { suggestedQuestions: questions } = source
  return Object.fromEntries([
    ...pick(stringMembers, (value) => typeof value === 'string'),
    ...pick(booleanMembers, (value) => typeof value === 'boolean'),
    ...pick(linkMembers, (value) => Object(value) === value),
    ...pick(['radius'], Number.isFinite),
    ...(Array.isArray(questions)
      ? [['suggestedQuestions', questions.filter((each) => typeof each === 'string')] as const]
      : []),
  ])
}

/** A message that the server sent; undefined without an id. A payload without a type gets the type `unknown`. */
export function parseMessage(value: unknown): Message | undefined {
  const { id, payload, ...rest } = Object(value)
  if (typeof id !== 'string') return undefined
  return { ...rest, id, payload: parsePayload(payload) }
}

function parsePayload(value: unknown): Payload {
  const payload = Object(value)
  return typeof payload.type === 'string' ? payload : { ...payload, type: 'unknown' }
}
