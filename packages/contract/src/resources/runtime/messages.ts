import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMap,
  AnyMapInput,
  DiscriminateByTags,
  Empty,
  Id,
  OneOf,
  pageOf,
  paging,
  Schedule,
  TagEquality,
  Tags,
  TagsInput,
  TagsPatch,
  TagsWanted,
  Text,
  Timestamp,
  timeRange,
  wrap,
  wrapFound,
} from '../../shared.js'
import { Conversation, conversationWanted } from './conversations.js'
import { User, userWanted } from './users.js'

/** A message as bots and integrations see it. */
export const Message = Type.Object(
  {
    id: Id('Id of the message.'),
    createdAt: Timestamp(
      'Time at which the message was stored; strictly increasing within a conversation.',
    ),
    updatedAt: Timestamp('Time at which the message last changed.'),
    type: Type.String({ description: 'Type of the message.' }),
    payload: AnyMap('Content of the message.'),
    direction: OneOf(
      ['incoming', 'outgoing'],
      '`incoming` messages go to the bot, `outgoing` messages come from it.',
    ),
    userId: Id('Id of the author; messages of the bot carry the id of the bot.'),
    conversationId: Id('Id of the conversation.'),
    tags: Tags('Tags of the message.'),
    origin: Type.Optional(
      OneOf(['synthetic'], '`synthetic` marks a message that no person wrote.'),
    ),
  },
  { title: 'Message', description: 'A message as bots and integrations see it.' },
)

const origin = Type.Optional(
  OneOf(['synthetic'], '`synthetic` marks a message that no person wrote.'),
)
const type = Text(200, 'Type of the message, such as `text`, 1 to 200 characters.', 1)
const payload = AnyMapInput('Content of the message, at most 128 KiB of JSON.')

const messageFields = {
  userId: Id('Id of the author; the id of the bot for messages of the bot.'),
  conversationId: Id('Id of the conversation.'),
  type,
  schedule: Type.Optional(Schedule),
  origin,
}

const messageId = Type.Object({ id: Id('Id of the message.') })

/** Messages of a bot, as the bot and its integrations see them. */
export const messages = {
  create: operation({
    id: 'createMessage',
    method: 'POST',
    path: '/v1/chat/messages',
    tag: 'Messages',
    summary: 'Create a message',
    description:
      'A message that an integration creates is incoming and is delivered to the bot; any other message is outgoing, and is sent to listeners of the chat address or delivered to the integration of the conversation. A scheduled message can be read by its id at once and joins the conversation when it is due; deleting it before then cancels it.',
    auth: 'bot',
    permission: 'conversations:write',
    standIn: true,
    body: Type.Object({
      ...messageFields,
      payload,
      tags: TagsInput('Tags of the message; may be empty.'),
    }),
    response: json(wrap('message', Message)),
    status: 201,
    errors: ['ReferenceNotFound', 'LimitExceeded', 'InvalidDataFormat', 'QuotaExceeded'],
    idempotent: true,
  }),
  getOrCreate: operation({
    id: 'getOrCreateMessage',
    method: 'POST',
    path: '/v1/chat/messages/get-or-create',
    tag: 'Messages',
    summary: 'Get or create a message by its tags',
    description:
      'Searches the messages of the conversation. If several calls request the same message at the same time, one creates it.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      ...messageFields,
      payload: Type.Optional(payload),
      tags: TagsWanted('message'),
      discriminateByTags: Type.Optional(DiscriminateByTags('message')),
    }),
    response: json(wrapFound('message', Message)),
    errors: ['ReferenceNotFound', 'LimitExceeded', 'InvalidDataFormat', 'QuotaExceeded'],
  }),
  get: operation({
    id: 'getMessage',
    method: 'GET',
    path: '/v1/chat/messages/{id}',
    tag: 'Messages',
    summary: 'Get a message',
    auth: 'bot',
    permission: 'conversations:read',
    params: messageId,
    response: json(wrap('message', Message)),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateMessage',
    method: 'PUT',
    path: '/v1/chat/messages/{id}',
    tag: 'Messages',
    summary: 'Update the tags or the payload of a message',
    description:
      'Tags are merged; a payload replaces the previous one. Neither listeners nor the bot are notified.',
    auth: 'bot',
    permission: 'conversations:write',
    params: messageId,
    body: Type.Object({
      tags: Type.Optional(TagsPatch('Tags of the message.')),
      payload: Type.Optional(payload),
    }),
    response: json(wrap('message', Message)),
    errors: ['ResourceNotFound', 'LimitExceeded', 'InvalidDataFormat'],
  }),
  list: operation({
    id: 'listMessages',
    method: 'GET',
    path: '/v1/chat/messages',
    tag: 'Messages',
    summary: 'List the messages of a conversation or of the whole bot',
    auth: 'bot',
    permission: 'conversations:read',
    query: Type.Object({
      ...paging,
      conversationId: Type.Optional(Id('Only messages of this conversation.')),
      tags: Type.Optional(TagEquality),
      ...timeRange('messages created'),
    }),
    response: json(pageOf('messages', Message, 'Messages, newest first.')),
    errors: ['ReferenceNotFound'],
  }),
  remove: operation({
    id: 'deleteMessage',
    method: 'DELETE',
    path: '/v1/chat/messages/{id}',
    tag: 'Messages',
    summary: 'Delete a message',
    description: 'Deleting a scheduled message that is not due yet cancels it.',
    auth: 'bot',
    permission: 'conversations:write',
    params: messageId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  import: operation({
    id: 'importMessages',
    method: 'POST',
    path: '/v1/chat/messages/import-messages',
    tag: 'Messages',
    summary: 'Import messages from another system',
    description:
      'History only: nobody is notified. Each message is found by its discriminating tags or created; either all of them or none.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      messages: Type.Array(
        Type.Object(
          {
            payload,
            userId: messageFields.userId,
            conversationId: messageFields.conversationId,
            type,
            tags: TagsInput('Tags of the message.'),
            createdAt: Timestamp('Time at which the message was written; not in the future.'),
            discriminateByTags: DiscriminateByTags('message'),
          },
          { title: 'ImportedMessage', description: 'One message to import.' },
        ),
        { maxItems: 100, description: 'The messages, at most 100.' },
      ),
    }),
    response: json(
      Type.Object({
        messages: Type.Array(Message, { description: 'The messages, in the given order.' }),
      }),
    ),
    errors: ['ReferenceNotFound', 'LimitExceeded', 'InvalidDataFormat'],
  }),
  initializeIncoming: operation({
    id: 'initializeIncomingMessage',
    method: 'POST',
    path: '/v1/chat/initialize-incoming-message',
    tag: 'Messages',
    summary: 'Get or create a user, a conversation and a message in one call',
    description: 'For integrations. All steps succeed, or none has any effect.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      userId: Type.Optional(Id('Id of an existing user; replaces `user`.')),
      user: Type.Optional(
        Type.Object(
          { ...userWanted, discriminateByTags: DiscriminateByTags('user') },
          { title: 'WantedUser', description: 'The user to get or create.' },
        ),
      ),
      conversationId: Type.Optional(Id('Id of an existing conversation; replaces `conversation`.')),
      conversation: Type.Optional(
        Type.Object(
          { ...conversationWanted, discriminateByTags: DiscriminateByTags('conversation') },
          { title: 'WantedConversation', description: 'The conversation to get or create.' },
        ),
      ),
      message: Type.Optional(
        Type.Object(
          {
            payload,
            type,
            tags: TagsWanted('message'),
            origin,
            discriminateByTags: DiscriminateByTags('message'),
          },
          { title: 'WantedMessage', description: 'The message to get or create.' },
        ),
      ),
    }),
    response: json(
      Type.Object({
        user: User,
        conversation: Conversation,
        message: Type.Optional(Message),
      }),
    ),
    errors: [
      'ReferenceNotFound',
      'LimitExceeded',
      'InvalidDataFormat',
      'Forbidden',
      'QuotaExceeded',
    ],
  }),
}
