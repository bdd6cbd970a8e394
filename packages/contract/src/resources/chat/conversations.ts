import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Empty, pageOf, paging, wrap } from '../../shared.js'
import { address, conversationById, ForeignId } from './address.js'
import { ChatConversation } from './entities.js'

/** The conversations of a chat address, and how to listen to one. */
export const chatConversations = {
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
    answer: { kind: 'json', schema: wrap('conversation', ChatConversation) },
    status: 201,
    errors: ['AlreadyExists'],
    idempotent: true,
  }),
  getOrCreateConversation: operation({
    id: 'chatGetOrCreateConversation',
    method: 'POST',
    path: '/chat/{webhookId}/conversations/get-or-create',
    tag: 'Chat',
    summary: 'Get a conversation of one’s own, created if need be',
    description: 'Of an existing conversation only the owner gets it.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      id: ForeignId('Id of the conversation: 1 to 70 of `A-Z a-z 0-9 _ - / \\`.'),
    }),
    answer: { kind: 'json', schema: wrap('conversation', ChatConversation) },
    status: 200,
    errors: ['Forbidden'],
  }),
  listConversations: operation({
    id: 'chatListConversations',
    method: 'GET',
    path: '/chat/{webhookId}/conversations',
    tag: 'Chat',
    summary: 'List one’s own conversations',
    description: 'Those that the caller owns; merely taking part is not enough. A page has 50.',
    auth: 'chat-user',
    params: address,
    query: Type.Object({ nextToken: paging.nextToken }),
    answer: {
      kind: 'json',
      schema: pageOf('conversations', ChatConversation, 'Conversations, newest first.'),
    },
    status: 200,
    errors: [],
  }),
  getConversation: operation({
    id: 'chatGetConversation',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{id}',
    tag: 'Chat',
    summary: 'Get a conversation',
    auth: 'chat-user',
    params: conversationById,
    answer: { kind: 'json', schema: wrap('conversation', ChatConversation) },
    status: 200,
    errors: ['Forbidden'],
  }),
  deleteConversation: operation({
    id: 'chatDeleteConversation',
    method: 'DELETE',
    path: '/chat/{webhookId}/conversations/{id}',
    tag: 'Chat',
    summary: 'Delete a conversation with all its messages',
    description: 'For its owner. Streams of the conversation end.',
    auth: 'chat-user',
    params: conversationById,
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['Forbidden'],
  }),
  listenConversation: operation({
    id: 'chatListenConversation',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{id}/listen',
    unencodedParam: 'id',
    tag: 'Chat',
    summary: 'Listen to a conversation',
    description:
      'Server-sent events, or WebSocket if the request asks for it. The id of an event is its place in the conversation: given back, everything after it is repeated and then followed, without a gap and nothing twice. Without it the stream begins with the last half second. A quiet stream says `ping` every 30 seconds. See the guide on the stream.',
    auth: 'chat-user',
    params: conversationById,
    query: Type.Object({
      lastEventId: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Id of the last event that was received; wins over `Last-Event-ID`.',
        }),
      ),
      'x-user-key': Type.Optional(
        Type.String({
          maxLength: 8192,
          description: 'User key, for WebSocket only: browsers cannot set headers there.',
        }),
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
    answer: {
      kind: 'stream',
      description: 'Signals of the conversation, each `{ type, data }`, as events named `message`.',
    },
    status: 200,
    errors: ['Forbidden'],
  }),
}
