import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMapInput, Empty, Id, MapOf, OneOf, pageOf, paging, Text, wrap } from '../../shared.js'
import { MessagePayload } from '../runtime/message-payloads.js'
import { address, conversationById, WebchatMessage, webhookId } from './entities.js'
import { chatMessages } from './messages.js'

/** Header with the admin secret of a chat. */
export const adminSecret = Type.Optional(
  Text(
    200,
    'Admin secret of the chat, which the workspace of its bot sets; a wrong one is refused with `Unauthorized`.',
  ),
)

const messageById = Type.Object({ webhookId, id: Id('Id of the message.') })

const changedMessage = Type.Object({
  payload: MessagePayload,
  metadata: Type.Optional(
    AnyMapInput('Metadata of the message; replace the present ones, which stay if omitted.'),
  ),
})

const signals = [
  '`init`: `{ conversation, messages, participants, user }`, the first of `initialize`.',
  '`message_created`, `message_updated`: the message.',
  '`message_status_changed`: `{ message, oldStatus, newStatus }`; with `processing` before the `message_created` of a message by a user.',
  '`typing_started`: `{ timeout? }`, in milliseconds; `typing_stopped`: `{}`.',
  '`participant_added`: `{ conversationId, participant }`; `participant_removed`: `{ conversationId, participantId }`.',
  '`webchat_visibility`: `{ visibility }`, one of `show`, `hide`, `toggle`.',
  '`webchat_config`: `{ config }`; `custom`: `{ event }`: a configuration or an event that a bot sent to the page.',
  '`message_deleted`: `{ id, conversationId, userId }`, which the official client ignores.',
  '`error`: `{ id, code, type, message }`, before the `init` of a new conversation, if the call had a user key and a `conversationId`, and the key is not valid (`Unauthorized`) or there is no such conversation for it (`ResourceNotFound`); `id` is that of the new conversation.',
].join(' ')

const stream = {
  kind: 'stream',
  description: `Signals of the conversation in the shapes of the web chat, each \`{ type, data }\`, as events named \`message\`. ${signals}`,
} as const

/** Operations of the web chat that the chat interface did not have. They are served at both addresses. */
const additions = {
  initialize: operation({
    id: 'chatInitialize',
    method: 'GET',
    path: '/chat/{webhookId}/initialize',
    tag: 'Chat',
    summary: 'Open a web chat',
    description:
      'Opens a stream that begins with the state of the conversation, and creates what is missing. Creates a conversation without `conversationId`, if there is no such conversation, or if the user takes no part in it. Creates a user without a user key and, where the chat has no encryption key, if the key is not valid. Where the chat has an encryption key, an invalid key is refused with `Unauthorized`, and so is a call without a key, unless it has the admin secret. `messages` are at most the newest 100, newest first, with at most 1 MiB in total. The stream ends only when the server stops or the user may no longer listen.',
    auth: 'chat',
    params: address,
    query: Type.Object({
      conversationId: Type.Optional(Text(200, 'Id of the conversation to open.')),
      'x-user-key': Type.Optional(
        Type.String({ maxLength: 8192, description: 'User key, for WebSocket only.' }),
      ),
    }),
    headers: Type.Object({
      'x-user-key': Type.Optional(
        Type.String({ maxLength: 8192, description: 'User key; if omitted, a user is created.' }),
      ),
      'x-admin-secret': Type.Optional(
        Text(
          200,
          'Admin secret of the chat; permits creating a user where the chat has an encryption key.',
        ),
      ),
    }),
    response: stream,
    errors: ['Unauthorized', 'Forbidden', 'InvalidPayload', 'RateLimited'],
  }),
  updateMessage: operation({
    id: 'chatUpdateMessage',
    method: 'PUT',
    path: '/chat/{webhookId}/messages/{id}',
    tag: 'Chat',
    summary: 'Change a message of the caller',
    description:
      'Only the author may change a message. Listeners of the web chat receive `message_updated`.',
    auth: 'chat-user',
    params: messageById,
    body: changedMessage,
    response: json(wrap('message', WebchatMessage)),
    errors: ['Forbidden', 'LimitExceeded'],
    throttle: 'messages',
  }),
  addFeedback: operation({
    id: 'chatAddMessageFeedback',
    method: 'PUT',
    path: '/chat/{webhookId}/messages/{id}/feedback',
    tag: 'Chat',
    summary: 'Rate a message',
    description:
      'For participants of the conversation. A message has one feedback; a new one replaces it, also that of another participant. The bot receives an event of the type `messageFeedback`.',
    auth: 'chat-user',
    params: messageById,
    body: Type.Object({
      value: OneOf(['positive', 'negative'], 'Whether the message helped.'),
      comment: Type.Optional(Text(2000, 'Comment, at most 2,000 characters.')),
    }),
    response: json(Empty),
    errors: ['Forbidden', 'QuotaExceeded'],
    throttle: 'messages',
  }),
  removeFeedback: operation({
    id: 'chatRemoveMessageFeedback',
    method: 'DELETE',
    path: '/chat/{webhookId}/messages/{id}/feedback',
    tag: 'Chat',
    summary: 'Remove the rating of a message',
    description: 'For participants of the conversation. Does nothing if there is none.',
    auth: 'chat-user',
    params: messageById,
    response: json(Empty),
    errors: ['Forbidden'],
    throttle: 'messages',
  }),
  createFile: operation({
    id: 'chatCreateFile',
    method: 'POST',
    path: '/chat/{webhookId}/files',
    tag: 'Chat',
    summary: 'Create a file of the caller',
    description:
      'The content follows with `PUT` to `uploadUrl`. Everybody who has `url` can read it. A file whose tag `conversation` is the id of a conversation of the caller is deleted with it, and `expiresAt` has no effect; other files need `expiresAt`. Size, types, number a minute and all files of a bot together are limited by settings of the server.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      key: Text(1000, 'Name of the file, at most 1,000 characters.', 1),
      size: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Bytes of the content.',
      }),
      contentType: Type.Optional(
        Text(255, 'Media type of the content; derived from the name if omitted.'),
      ),
      accessPolicies: Type.Optional(
        Type.Array(OneOf(['integrations', 'public_content'], 'A policy.'), {
          maxItems: 2,
          description: 'Accepted, without effect: the content is readable by its URL.',
        }),
      ),
      index: Type.Optional(
        Type.Boolean({ description: 'Accepted, without effect: files of users are not indexed.' }),
      ),
      tags: Type.Optional(
        MapOf(Text(500, 'Value of the tag, at most 500 characters.'), {
          description:
            'At most 50 tags of 1 to 200 characters; `conversation` is the id of the conversation of the file.',
          maxProperties: 50,
          propertyNames: { minLength: 1, maxLength: 200 },
        }),
      ),
      expiresAt: Type.Optional(
        Type.String({
          format: 'date-time',
          maxLength: 64,
          description: 'Time at which the file is deleted: at most 90 days from now.',
        }),
      ),
    }),
    response: json(
      wrap(
        'file',
        Type.Object(
          {
            id: Id('Id of the file.'),
            key: Type.String({ description: 'Key of the file in the bot.' }),
            url: Type.String({ description: 'Permanent address of the content.' }),
            uploadUrl: Type.String({ description: 'Address to which the content is sent.' }),
            contentType: Type.String({ description: 'Media type of the content.' }),
          },
          {
            additionalProperties: true,
            title: 'ChatFile',
            description: 'A file of a chat user, with all members of a file of the bot.',
          },
        ),
      ),
    ),
    errors: ['Forbidden', 'LimitExceeded', 'UnsupportedMediaType', 'QuotaExceeded'],
    throttle: 'files',
  }),
  createUserKey: operation({
    id: 'chatCreateUserKey',
    method: 'POST',
    path: '/chat/{webhookId}/users/key',
    tag: 'Chat',
    summary: 'Create a user key as the administrator of a chat',
    description:
      'For programs that know the admin secret of the chat; a missing or wrong one is refused with `Unauthorized`. The user is created if there is none with the id.',
    auth: 'chat',
    params: address,
    headers: Type.Object({ 'x-admin-secret': adminSecret }),
    body: Type.Object({
      id: Text(
        128,
        'Id of the user: of an existing one, or 1 to 70 characters of `A-Z a-z 0-9 _ - / \\`.',
        1,
      ),
      expiresAt: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 8_640_000_000_000_000,
          description:
            'Time at which the key expires, in milliseconds since the Unix epoch; never if omitted.',
        }),
      ),
    }),
    response: json(
      Type.Object({
        key: Type.String({ description: 'User key: the value of the header `x-user-key`.' }),
      }),
    ),
    errors: ['Unauthorized', 'Forbidden', 'InvalidPayload'],
    throttle: 'users',
  }),
  sendMetrics: operation({
    id: 'chatSendMetrics',
    method: 'POST',
    path: '/chat/{webhookId}/p',
    tag: 'Chat',
    summary: 'Accept measurements of a web chat',
    description: 'For existing clients. Nothing is stored.',
    auth: 'chat',
    params: address,
    body: Type.Object({}, { additionalProperties: true }),
    response: json(Empty),
  }),
}

/**
 * Operations that the web chat and the chat interface have at the same path with different shapes. At the
 * web chat address they have those of the web chat; every other operation of a chat address is served there too.
 */
const shapes = {
  listMessages: operation({
    id: 'webchatListMessages',
    method: 'GET',
    path: '/webchat/{webhookId}/conversations/{id}/messages',
    tag: 'Chat',
    summary: 'List the messages of a conversation in the shapes of the web chat',
    description: 'A page has 50 messages.',
    auth: 'chat-user',
    params: conversationById,
    query: Type.Object({ nextToken: paging.nextToken }),
    response: json(pageOf('messages', WebchatMessage, 'Messages, newest first.')),
    errors: ['Forbidden'],
  }),
  getMessage: operation({
    id: 'webchatGetMessage',
    method: 'GET',
    path: '/webchat/{webhookId}/messages/{id}',
    tag: 'Chat',
    summary: 'Get a message in the shapes of the web chat',
    auth: 'chat-user',
    params: messageById,
    response: json(wrap('message', WebchatMessage)),
    errors: ['Forbidden'],
  }),
  createMessage: operation({
    ...chatMessages.createMessage,
    id: 'webchatCreateMessage',
    path: '/webchat/{webhookId}/messages',
    summary: 'Send a message and get it in the shapes of the web chat',
    response: json(wrap('message', WebchatMessage)),
  }),
  listen: operation({
    id: 'webchatListenConversation',
    method: 'GET',
    path: '/webchat/{webhookId}/conversations/{id}/listen',
    unencodedParam: 'id',
    tag: 'Chat',
    summary: 'Listen to a conversation in the shapes of the web chat',
    description:
      'Begins with the events of the last half second, or after the event in the header `Last-Event-ID`. Earlier messages are in the list of messages.',
    auth: 'chat-user',
    params: conversationById,
    query: Type.Object({
      'x-user-key': Type.Optional(
        Type.String({ maxLength: 8192, description: 'User key, for WebSocket only.' }),
      ),
    }),
    headers: Type.Object({
      'last-event-id': Type.Optional(
        Type.String({
          maxLength: 20,
          pattern: '^[0-9]*$',
          description: 'Id of the last event that was received, as browsers send it.',
        }),
      ),
    }),
    response: stream,
    errors: ['Forbidden'],
  }),
}

/** All operations of the web chat that differ from those of the chat interface. */
export const webchat = { ...additions, ...shapes }

const botId = Type.Object({ id: Id('Id of the bot.') })

/** The admin secret of the chat of a bot, for its workspace. */
export const chatSecrets = {
  set: operation({
    id: 'setChatAdminSecret',
    method: 'PUT',
    path: '/v1/admin/bots/{id}/chat-secret',
    tag: 'Bots',
    summary: 'Set the admin secret of a chat',
    description:
      'With the secret, programs can create user keys and, where the chat has an encryption key, users. The previous secret stops working immediately. Only a hash is stored.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    body: Type.Object({
      secret: Type.Optional(
        Type.String({
          minLength: 32,
          maxLength: 200,
          pattern: '^[!-~]*$',
          description: 'The secret: 32 to 200 visible characters of ASCII; generated if omitted.',
        }),
      ),
    }),
    response: json(
      Type.Object({ secret: Type.String({ description: 'The secret. Returned only here.' }) }),
    ),
    errors: ['ResourceNotFound'],
  }),
  remove: operation({
    id: 'removeChatAdminSecret',
    method: 'DELETE',
    path: '/v1/admin/bots/{id}/chat-secret',
    tag: 'Bots',
    summary: 'Remove the admin secret of a chat',
    description: 'Keys that were created with it stay valid. Does nothing if there is none.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}
