import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Empty, Id, pageOf, paging, wrap } from '../../shared.js'
import { inConversation, webhookId } from './address.js'
import { ChatUser } from './entities.js'

const participant = Type.Object({
  webhookId,
  conversationId: Id('Id of the conversation.'),
  userId: Id('Id of the user.'),
})

/** Who takes part in the conversations of a chat address. */
export const chatParticipants = {
  listParticipants: operation({
    id: 'chatListParticipants',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants',
    tag: 'Chat',
    summary: 'List who takes part in a conversation',
    description: 'The bot takes part without being listed. A page has 50.',
    auth: 'chat-user',
    params: inConversation,
    query: Type.Object({ nextToken: paging.nextToken }),
    answer: {
      kind: 'json',
      schema: pageOf('participants', ChatUser, 'Users who take part, newest user first.'),
    },
    status: 200,
    errors: ['Forbidden'],
  }),
  addParticipant: operation({
    id: 'chatAddParticipant',
    method: 'POST',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants',
    tag: 'Chat',
    summary: 'Let a user take part in a conversation',
    description: 'For the owner. Adding somebody who takes part already changes nothing.',
    auth: 'chat-user',
    params: inConversation,
    body: Type.Object({ userId: Id('Id of the user.') }),
    answer: { kind: 'json', schema: wrap('participant', ChatUser) },
    status: 200,
    errors: ['Forbidden', 'ReferenceNotFound'],
  }),
  getParticipant: operation({
    id: 'chatGetParticipant',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants/{userId}',
    tag: 'Chat',
    summary: 'Get a user who takes part in a conversation',
    description: 'For the owner.',
    auth: 'chat-user',
    params: participant,
    answer: { kind: 'json', schema: wrap('participant', ChatUser) },
    status: 200,
    errors: ['Forbidden'],
  }),
  removeParticipant: operation({
    id: 'chatRemoveParticipant',
    method: 'DELETE',
    path: '/chat/{webhookId}/conversations/{conversationId}/participants/{userId}',
    tag: 'Chat',
    summary: 'End the part of a user in a conversation',
    description:
      'For the owner, who cannot be removed. The streams of the user end before the others are told.',
    auth: 'chat-user',
    params: participant,
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['Forbidden'],
  }),
}
