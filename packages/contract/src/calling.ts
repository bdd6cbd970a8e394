import { type TObject, Type } from 'typebox'
import { type ErrorType, errorCatalogue } from './errors.js'
import type { Auth, Operation } from './operation.js'
import { Text } from './shared.js'

const maxHeaderLength = 200

const scope = (description: string) =>
  Type.Optional(Text(maxHeaderLength, `${description} At most ${maxHeaderLength} characters.`))

/** Headers that each kind of `auth` reads besides its credential. */
export const authHeaders: Record<Auth, TObject | undefined> = {
  public: undefined,
  account: undefined,
  token: undefined,
  workspace: Type.Object({
    'x-workspace-id': Text(maxHeaderLength, 'Id of the workspace that the call acts on.', 1),
  }),
  bot: Type.Object({
    'x-bot-id': Text(maxHeaderLength, 'Id of the bot that the call acts on.', 1),
    'x-integration-id': scope(
      'Id of the integration on whose behalf the call is made; it must be installed in the bot. The token must be its key, or that of somebody who may write in the workspace that owns it.',
    ),
    'x-integration-alias': scope(
      'Alias under which that integration is installed. Sufficient without the id.',
    ),
    'x-integration-name': scope('Name of that integration.'),
    'x-user-id': scope('Id of the user on whose behalf the call is made.'),
    'x-user-role': scope('Role of that user.'),
  }),
  chat: undefined,
  'chat-user': undefined,
  signature: undefined,
}

/** The header that makes it safe to repeat a creation. */
export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Text(
      255,
      'Any value, new for each object to create. For 24 hours, a repeated call with the same value gets the first response; with another body it is refused. 1 to 255 characters.',
      1,
    ),
  ),
})

const authErrors: Record<Auth, readonly ErrorType[]> = {
  public: [],
  account: ['Unauthorized'],
  token: ['Unauthorized'],
  workspace: ['Unauthorized', 'Forbidden'],
  bot: ['Unauthorized', 'Forbidden', 'InvalidPayload'],
  chat: ['ResourceNotFound'],
  'chat-user': ['Unauthorized', 'Forbidden', 'ResourceNotFound', 'InvalidPayload'],
  signature: ['Forbidden'],
}

/** Every error that an operation can return, by status: its own and those that its shape implies. */
export function errorsOf(operation: Operation): ErrorType[] {
  const possible = new Set<ErrorType>([
    ...operation.errors,
    ...authErrors[operation.auth],
    'Internal',
  ])
  if (!operation.probe) possible.add('RateLimited')
  if (operation.query) possible.add('InvalidQuery')
  if (operation.params || operation.headers) possible.add('InvalidPayload')
  if (operation.idempotent) possible.add('InvalidPayload').add('AlreadyExists')
  if (operation.body) {
    possible.add('InvalidPayload').add('PayloadTooLarge').add('UnsupportedMediaType')
  }
  return [...possible].sort(
    (a, b) => errorCatalogue[a].status - errorCatalogue[b].status || a.localeCompare(b, 'en'),
  )
}
