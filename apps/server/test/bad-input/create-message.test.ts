import { contract } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { expectRefusal, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { testFields } from './fields.js'
import { messageRules } from './message-rules.js'
import { payloadAt, payloadExamples } from './payload-examples.js'

const { createMessage } = contract.chat

describe('bad input to chatCreateMessage', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const example = (place: string) => ({
    params: { webhookId: own.webhookId },
    headers: { 'x-user-key': own.userKey },
    body: { conversationId: own.conversationId, payload: payloadAt(place), metadata: {} },
  })

  it.each(Object.keys(payloadExamples))('the example of %s is accepted', async (type) => {
    const response = await send(server(), createMessage, example(`<${type}>`))
    expect(await response.json()).toMatchObject({ message: { payload: payloadExamples[type] } })
  })

  testFields({
    server,
    operation: createMessage,
    example,
    stored: () => server().client(own).chatListMessages({ conversationId: own.conversationId }),
    rules: messageRules,
  })

  const refused: [string, unknown, string, string | RegExp][] = [
    [
      'a card inside a bloc',
      { type: 'bloc', items: [payloadExamples.card] },
      'InvalidPayload',
      /^body\.payload\.items\.0\.type must be one of text, .*location\.$/,
    ],
    [
      'a part of a carousel that is not a card',
      { type: 'carousel', items: [{ ...payloadExamples.card, type: 'text' }] },
      'InvalidPayload',
      'body.payload.items.0.type must be one of card.',
    ],
    [
      'metadata inside the payload',
      { ...payloadExamples.text, metadata: {} },
      'InvalidPayload',
      'body.payload.metadata must stand beside the payload, as body.metadata.',
    ],
  ]
  it.each(refused)('%s is refused', async (_, payload, type, message) => {
    const { params, headers, body } = example('')
    const response = await send(server(), createMessage, {
      params,
      headers,
      body: { ...body, payload },
    })
    await expectRefusal(response, { status: 400, type, message })
  })

  it('a payload larger than 128 KiB in all is refused', async () => {
    const { params, headers, body } = example('')
    const text = 'x'.repeat(70_000)
    const response = await send(server(), createMessage, {
      params,
      headers,
      body: { ...body, payload: { type: 'text', text, more: text } },
    })
    await expectRefusal(response, {
      status: 413,
      type: 'LimitExceeded',
      message: /^body\.payload .*131072/,
    })
  })
})
