import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { OneOf } from '../../shared.js'
import { chatConversations } from './conversations.js'
import { address } from './entities.js'
import { chatMessages } from './messages.js'
import { chatUsers } from './users.js'

/** Operations for web chats, at the chat address of one bot. */
export const chat = {
  hello: operation({
    id: 'chatHello',
    method: 'GET',
    path: '/chat/{webhookId}/hello',
    tag: 'Chat',
    summary: 'Check that a chat address is available',
    auth: 'chat',
    params: address,
    response: json(
      Type.Object(
        { status: OneOf(['ok'], 'The address is available.') },
        { title: 'Hello', description: 'The address is available.' },
      ),
    ),
  }),
  openApi: operation({
    id: 'chatOpenApi',
    method: 'GET',
    path: '/chat/{webhookId}/openapi.json',
    tag: 'Chat',
    summary: 'Get the OpenAPI document of the chat interface',
    auth: 'chat',
    params: address,
    response: {
      kind: 'download',
      description: 'OpenAPI 3.1 document of the operations of a chat address.',
    },
  }),
  reference: operation({
    id: 'chatReference',
    method: 'GET',
    path: '/chat/{webhookId}/redoc',
    tag: 'Chat',
    summary: 'Open the reference of the chat interface',
    auth: 'chat',
    params: address,
    response: { kind: 'download', description: 'Page that leads to the rendered reference.' },
  }),
  ...chatUsers,
  ...chatConversations,
  ...chatMessages,
}
