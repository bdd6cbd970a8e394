import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMapInput, Id, wrap } from '../../shared.js'
import { address, webhookId } from './address.js'
import { ChatEvent } from './entities.js'

/** Custom events, which users send to the bot besides messages. */
export const chatEvents = {
  createEvent: operation({
    id: 'chatCreateEvent',
    method: 'POST',
    path: '/chat/{webhookId}/events',
    tag: 'Chat',
    summary: 'Send a custom event',
    description: 'Listeners receive it first; the bot receives it as an event of type `custom`.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({
      conversationId: Id('Id of the conversation.'),
      payload: AnyMapInput('Any content that the bot understands.'),
    }),
    response: json(wrap('event', ChatEvent)),
    status: 201,
    errors: ['Forbidden', 'LimitExceeded'],
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
