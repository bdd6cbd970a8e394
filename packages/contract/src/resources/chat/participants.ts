import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, pageOf, paging, wrap } from '../../shared.js'
import { inConversation, webhookId } from './address.js'
import { ChatUser } from './entities.js'

const participant = Type.Object({
  webhookId,
  conversationId: Id('Id of the conversation.'),
  userId: Id('Id of the user.'),
})

/** The participants of the conversations of a chat address. */
export const chatParticipants = {
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
