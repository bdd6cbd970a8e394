import { contract } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { testFields } from './fields.js'
import { atMost, body, filled, members, names, required } from './rules.js'
import { botHeaders, idempotencyKey } from './shared-rules.js'

describe('bad input to createConversation', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const example = () => ({
    headers: { authorization: `Bearer ${own.token}`, 'x-bot-id': own.botId },
    body: { channel: 'channel', tags: { name: 'x' }, integrationName: 'chat', properties: {} },
  })

  it('the example is accepted', async () => {
    const response = await send(server(), contract.conversations.create, example())
    expect(response.status).toBe(201)
  })

  testFields({
    server,
    operation: contract.conversations.create,
    example,
    stored: () => server().client(own).listConversations({ pageSize: 100 }),
    rules: {
      ...botHeaders,
      ...idempotencyKey,
      'body.channel': [required, body.text, filled, atMost(200)],
      'body.tags': [required, body.object, members(200, 'x'), ...names(200, 'x')],
      'body.tags.name': [body.text, atMost(500)],
      'body.integrationName': [body.text, filled, atMost(200)],
      'body.properties': [body.object, members(200, 'x'), ...names(200, 'x')],
      'body.properties.name': [body.text, atMost(2000)],
    },
  })
})
