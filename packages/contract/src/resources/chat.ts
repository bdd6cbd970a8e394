import { Type } from 'typebox'
import { operation } from '../operation.js'
import { AnyMapInput, Id, OneOf, pageOf, paging, Text, Url, wrap } from '../shared.js'
import { ChatConversation, ChatMessage, ChatUser } from './chat-entities.js'
import { MessagePayload } from './message-payloads.js'

const webhookId = Id('Names the bot: `webhookId` of its integration `chat`.')
const address = Type.Object({ webhookId })

/** An id chosen by the app. */
const ForeignId = (description: string) =>
  Type.String({ minLength: 1, maxLength: 70, pattern: '^[A-Za-z0-9_/\\\\-]+$', description })

const profile = {
  name: Type.Optional(Text(1000, 'Name shown to others, at most 1,000 characters.')),
  pictureUrl: Type.Optional(Url('Address of a picture, at most 65,536 characters.')),
  profile: Type.Optional(Text(1000, 'Free text about the user, at most 1,000 characters.')),
}

/** What web chats call, at the chat address of one bot. */
export const chat = {
  hello: operation({
    id: 'chatHello',
    method: 'GET',
    path: '/chat/{webhookId}/hello',
    tag: 'Chat',
    summary: 'Check that a chat address is served',
    auth: 'chat',
    params: address,
    result: Type.Object(
      { status: OneOf(['ok'], 'The address is served.') },
      { title: 'Hello', description: 'The address is served.' },
    ),
    status: 200,
    errors: [],
  }),
  createUser: operation({
    id: 'chatCreateUser',
    method: 'POST',
    path: '/chat/{webhookId}/users',
    tag: 'Chat',
    summary: 'Create a user and get its key',
    description: 'Not available while the chat address has an encryption key of its own.',
    auth: 'chat',
    params: address,
    body: Type.Object({
      id: Type.Optional(
        ForeignId('Id to give the user: 1 to 70 of `A-Z a-z 0-9 _ - / \\`; made up if left out.'),
      ),
      ...profile,
    }),
    result: Type.Object({
      user: ChatUser,
      key: Type.String({ description: 'Value of the header `x-user-key` of this user.' }),
    }),
    status: 201,
    errors: ['Unauthorized', 'AlreadyExists'],
    idempotent: true,
  }),
  getOrCreateUser: operation({
    id: 'chatGetOrCreateUser',
    method: 'POST',
    path: '/chat/{webhookId}/users/get-or-create',
    tag: 'Chat',
    summary: 'Get the user of a key, created if need be',
    description:
      'The key says who it is. Members that are given overwrite those of an existing user.',
    auth: 'chat-user',
    params: address,
    body: Type.Object(profile),
    result: wrap('user', ChatUser),
    status: 200,
    errors: [],
  }),
  getUser: operation({
    id: 'chatGetUser',
    method: 'GET',
    path: '/chat/{webhookId}/users/me',
    tag: 'Chat',
    summary: 'Get the user of a key',
    auth: 'chat-user',
    params: address,
    result: wrap('user', ChatUser),
    status: 200,
    errors: [],
  }),
  createConversation: operation({
    id: 'chatCreateConversation',
    method: 'POST',
    path: '/chat/{webhookId}/conversations',
    tag: 'Chat',
    summary: 'Open a conversation with the bot',
    description: 'The caller becomes its owner and takes part in it.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      id: Type.Optional(
        ForeignId('Id to give it: 1 to 70 of `A-Z a-z 0-9 _ - / \\`; made up if left out.'),
      ),
    }),
    result: wrap('conversation', ChatConversation),
    status: 201,
    errors: ['AlreadyExists'],
    idempotent: true,
  }),
  getConversation: operation({
    id: 'chatGetConversation',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{id}',
    tag: 'Chat',
    summary: 'Get a conversation',
    auth: 'chat-user',
    params: Type.Object({ webhookId, id: Id('Id of the conversation.') }),
    result: wrap('conversation', ChatConversation),
    status: 200,
    errors: ['Forbidden'],
  }),
  listMessages: operation({
    id: 'chatListMessages',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{conversationId}/messages',
    tag: 'Chat',
    summary: 'List the messages of a conversation',
    description: 'A page has 50 messages.',
    auth: 'chat-user',
    params: Type.Object({ webhookId, conversationId: Id('Id of the conversation.') }),
    query: Type.Object({ nextToken: paging.nextToken }),
    result: pageOf('messages', ChatMessage, 'Messages, newest first.'),
    status: 200,
    errors: ['Forbidden'],
  }),
  createMessage: operation({
    id: 'chatCreateMessage',
    method: 'POST',
    path: '/chat/{webhookId}/messages',
    tag: 'Chat',
    summary: 'Send a message',
    description:
      'The answer means that the message is stored. Listeners of the conversation get it first.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      conversationId: Id('Id of the conversation.'),
      payload: MessagePayload,
      metadata: Type.Optional(AnyMapInput('Facts to keep beside the payload.')),
    }),
    result: wrap('message', ChatMessage),
    status: 201,
    errors: ['Forbidden', 'LimitExceeded'],
    idempotent: true,
  }),
}
