import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMapInput, Empty, Id, pageOf, paging, Text, wrap } from '../../shared.js'
import { MessagePayload } from '../runtime/message-payloads.js'
import { address, ChatEvent, ChatMessage, inConversation, webhookId } from './entities.js'

const messageById = Type.Object({ webhookId, id: Id('Id of the message.') })

/** The messages of a chat address, and custom events, which users send to the bot besides messages. */
export const chatMessages = {
  listMessages: operation({
    id: 'chatListMessages',
    method: 'GET',
    path: '/chat/{webhookId}/conversations/{conversationId}/messages',
    tag: 'Chat',
    summary: 'List the messages of a conversation',
    description: 'A page has 50 messages.',
    auth: 'chat-user',
    params: inConversation,
    query: Type.Object({ nextToken: paging.nextToken }),
    response: json(pageOf('messages', ChatMessage, 'Messages, newest first.')),
    errors: ['Forbidden'],
  }),
  createMessage: operation({
    id: 'chatCreateMessage',
    method: 'POST',
    path: '/chat/{webhookId}/messages',
    tag: 'Chat',
    summary: 'Send a message',
    description:
      'The response means that the message is stored. Listeners of the conversation receive it first.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      conversationId: Id('Id of the conversation.'),
      payload: MessagePayload,
      metadata: Type.Optional(
        AnyMapInput(
          'Metadata to store with the payload. Its member `clientMessageId`, if it is a string of 1 to 255 characters, has the effect of the field of that name.',
        ),
      ),
      replyTo: Type.Optional(Id('Id of the message that this one answers.')),
      clientMessageId: Type.Optional(
        Text(
          255,
          'Any value, new for each message, for callers that cannot set the header `Idempotency-Key`: a repeated call with the same value gets the first response. 1 to 255 characters.',
          1,
        ),
      ),
    }),
    response: json(wrap('message', ChatMessage)),
    status: 201,
    errors: ['Forbidden', 'LimitExceeded', 'QuotaExceeded'],
    idempotent: true,
    idempotencyMembers: ['clientMessageId', 'metadata.clientMessageId'],
    throttle: 'messages',
  }),
  getMessage: operation({
    id: 'chatGetMessage',
    method: 'GET',
    path: '/chat/{webhookId}/messages/{id}',
    tag: 'Chat',
    summary: 'Get a message',
    auth: 'chat-user',
    params: messageById,
    response: json(wrap('message', ChatMessage)),
    errors: ['Forbidden'],
  }),
  deleteMessage: operation({
    id: 'chatDeleteMessage',
    method: 'DELETE',
    path: '/chat/{webhookId}/messages/{id}',
    tag: 'Chat',
    summary: 'Delete a message of the caller',
    description:
      'For the author, even one who is no longer a participant. The message is deleted permanently.',
    auth: 'chat-user',
    params: messageById,
    response: json(Empty),
    errors: ['Forbidden'],
  }),
  createEvent: operation({
    id: 'chatCreateEvent',
    method: 'POST',
    path: '/chat/{webhookId}/events',
    tag: 'Chat',
    summary: 'Send a custom event',
    description:
      'Listeners receive it first; the bot receives it as an event of type `custom`. A payload `{ type: "conversation_started", data }` reaches the bot as an event of type `conversationStarted`, the first time in each conversation; in the response, `data.status.isInitial` tells whether it was the first.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      conversationId: Id('Id of the conversation.'),
      payload: AnyMapInput('Any content that the bot understands.'),
      bindConversation: Type.Optional(
        Type.Boolean({
          description: 'Whether the event of the bot belongs to the conversation; true if omitted.',
        }),
      ),
      bindUser: Type.Optional(
        Type.Boolean({
          description: 'Whether the event of the bot belongs to the user; true if omitted.',
        }),
      ),
    }),
    response: json(wrap('event', ChatEvent)),
    status: 201,
    errors: ['Forbidden', 'LimitExceeded', 'QuotaExceeded'],
    idempotent: true,
    throttle: 'messages',
  }),
  getEvent: operation({
    id: 'chatGetEvent',
    method: 'GET',
    path: '/chat/{webhookId}/events/{id}',
    tag: 'Chat',
    summary: 'Get a custom event',
    auth: 'chat-user',
    params: Type.Object({ webhookId, id: Id('Id of the event.') }),
    response: json(wrap('event', ChatEvent)),
    errors: ['Forbidden'],
  }),
}
