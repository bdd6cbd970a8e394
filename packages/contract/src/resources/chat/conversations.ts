import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, pageOf, paging, wrap } from '../../shared.js'
import {
  address,
  ChatConversation,
  ChatUser,
  conversationById,
  ForeignId,
  inConversation,
  webhookId,
} from './entities.js'

const participant = Type.Object({
  webhookId,
  conversationId: Id('Id of the conversation.'),
  userId: Id('Id of the user.'),
})

/** The conversations of a chat address, the stream of one, and its participants. */
export const chatConversations = {
  createConversation: operation({
    id: 'chatCreateConversation',
    method: 'POST',
    path: '/chat/{webhookId}/conversations',
    tag: 'Chat',
    summary: 'Create a conversation with the bot',
    description: 'The caller becomes its owner and a participant.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      id: Type.Optional(
        ForeignId(
          'Id of the conversation: 1 to 70 characters of `A-Z a-z 0-9 _ - / \\`; generated if omitted.',
        ),
      ),
    }),
    response: json(wrap('conversation', ChatConversation)),
    status: 201,
    errors: ['AlreadyExists'],
    idempotent: true,
  }),
  getOrCreateConversation: operation({
    id: 'chatGetOrCreateConversation',
    method: 'POST',
    path: '/chat/{webhookId}/conversations/get-or-create',
    tag: 'Chat',
    summary: 'Get or create a conversation of the caller',
    description: 'Only the owner can get an existing conversation.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      id: ForeignId('Id of the conversation: 1 to 70 characters of `A-Z a-z 0-9 _ - / \\`.'),
    }),
    response: json(wrap('conversation', ChatConversation)),
    errors: ['Forbidden'],
  }),
  listConversations: operation({
    id: 'chatListConversations',
    method: 'GET',
    path: '/chat/{webhookId}/conversations',
    tag: 'Chat',
    summary: 'List the conversations of the caller',
    description:
      'Conversations that the caller owns, not those in which it is only a participant. A page has 50.',
    auth: 'chat-user',
    params: address,
    query: Type.Object({ nextToken: paging.nextToken }),
    response: json(pageOf('conversations', ChatConversation, 'Conversations, newest first.')),
  }),
  getConversation: operation({
    id: 'chatGetConversation',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{id}',
    tag: 'Chat',
    summary: 'Get a conversation',
    auth: 'chat-user',
    params: conversationById,
    response: json(wrap('conversation', ChatConversation)),
    errors: ['Forbidden'],
  }),
  deleteConversation: operation({
    id: 'chatDeleteConversation',
    method: 'DELETE',
    path: '/chat/{webhookId}/conversations/{id}',
    tag: 'Chat',
    summary: 'Delete a conversation with all its messages',
    description: 'For the owner. Ends the streams of the conversation.',
    auth: 'chat-user',
    params: conversationById,
    response: json(Empty),
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
      'Server-sent events, or WebSocket if the request asks for it. The id of an event is its position in the conversation: given an id, the stream sends every event after it and then continues live, without gaps or duplicates. Without an id, the stream begins with the last half second. An idle stream sends `ping` every 30 seconds. See the guide on the stream.',
    auth: 'chat-user',
    params: conversationById,
    query: Type.Object({
      lastEventId: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'Id of the last event that was received; takes precedence over `Last-Event-ID`.',
        }),
      ),
      'x-user-key': Type.Optional(
        Type.String({
          maxLength: 8192,
          description: 'User key, for WebSocket only, because browsers cannot set its headers.',
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
    response: {
      kind: 'stream',
      description: 'Signals of the conversation, each `{ type, data }`, as events named `message`.',
    },
    errors: ['Forbidden'],
  }),
  listParticipants: operation({
    id: 'chatListParticipants',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants',
    tag: 'Chat',
    summary: 'List the participants of a conversation',
    description: 'The bot participates without being listed. A page has 50.',
    auth: 'chat-user',
    params: inConversation,
    query: Type.Object({ nextToken: paging.nextToken }),
    response: json(pageOf('participants', ChatUser, 'Participants, newest user first.')),
    errors: ['Forbidden'],
  }),
  addParticipant: operation({
    id: 'chatAddParticipant',
    method: 'POST',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants',
    tag: 'Chat',
    summary: 'Add a participant to a conversation',
    description: 'For the owner. Adding an existing participant changes nothing.',
    auth: 'chat-user',
    params: inConversation,
    body: Type.Object({ userId: Id('Id of the user.') }),
    response: json(wrap('participant', ChatUser)),
    errors: ['Forbidden', 'ReferenceNotFound'],
  }),
  getParticipant: operation({
    id: 'chatGetParticipant',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants/{userId}',
    tag: 'Chat',
    summary: 'Get a participant of a conversation',
    description: 'For the owner.',
    auth: 'chat-user',
    params: participant,
    response: json(wrap('participant', ChatUser)),
    errors: ['Forbidden'],
  }),
  removeParticipant: operation({
    id: 'chatRemoveParticipant',
    method: 'DELETE',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants/{userId}',
    tag: 'Chat',
    summary: 'Remove a participant from a conversation',
    description:
      'For the owner, who cannot be removed. Ends the streams of the user before the other participants are notified.',
    auth: 'chat-user',
    params: participant,
    response: json(Empty),
    errors: ['Forbidden'],
  }),
}
