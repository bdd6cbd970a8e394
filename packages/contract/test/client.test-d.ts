import type { Client, MessagePayload } from '@botstead/contract'
import { expectTypeOf } from 'vitest'

declare const client: Client

// Input is flat: members of path, query and body together.
expectTypeOf(client.getBot).parameter(0).toEqualTypeOf<{ id: string }>()
expectTypeOf(client.updateBot).parameter(0).toExtend<{ id: string; name?: string }>()
expectTypeOf(client.createConversation)
  .parameter(0)
  .toExtend<{ channel: string; tags: Record<string, string> }>()
expectTypeOf(client.searchFiles).parameter(0).toHaveProperty('query').toEqualTypeOf<string>()

// An input is optional exactly when every member of it is.
expectTypeOf(client.listBots).toBeCallableWith()
expectTypeOf(client.listBots).toBeCallableWith({ dev: true, integrationNames: ['chat'] })
// @ts-expect-error an id is needed
expectTypeOf(client.getBot).toBeCallableWith()
// @ts-expect-error only these two orders exist
expectTypeOf(client.listBots).toBeCallableWith({ sortDirection: 'up' })

// On chat addresses the webhook id may come from the options of the client.
expectTypeOf(client.chatHello).toBeCallableWith()
expectTypeOf(client.chatGetConversation).toBeCallableWith({ id: 'c' })
expectTypeOf(client.chatGetConversation).toBeCallableWith({ id: 'c', webhookId: 'w' })

// Payloads are distinguished by their type.
expectTypeOf<Extract<MessagePayload, { type: 'audio' }>>().toEqualTypeOf<{
  type: 'audio'
  audioUrl: string
}>()
expectTypeOf(client.chatCreateMessage).toBeCallableWith({
  conversationId: 'c',
  payload: { type: 'bloc', items: [{ type: 'text', text: 'x' }] },
})
expectTypeOf(client.chatCreateMessage).toBeCallableWith({
  conversationId: 'c',
  // @ts-expect-error a text has a text
  payload: { type: 'text' },
})

// Responses have the types of the contract.
expectTypeOf(client.listBots).returns.resolves.toHaveProperty('bots').toBeArray()
expectTypeOf(client.listBots)
  .returns.resolves.toHaveProperty('meta')
  .toEqualTypeOf<{ nextToken?: string }>()
expectTypeOf(client.chatCreateMessage)
  .returns.resolves.toHaveProperty('message')
  .toHaveProperty('payload')
  .toEqualTypeOf<{ type: string; [member: string]: unknown }>()

// Operations with raw content are no methods.
expectTypeOf<Client>().not.toHaveProperty('putContent')
expectTypeOf<Client>().not.toHaveProperty('getContent')
