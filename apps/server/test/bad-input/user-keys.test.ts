import { contract } from '@botstead/contract'
import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { absent, expectRefusal, type Refusal, replaced, send } from '../request.js'
import { addAccount, settle, type Tenant } from '../tenant.js'

const { createMessage } = contract.chat

const chatSecret = 'the secret of all chats of the operator'

describe('user keys of createMessage', () => {
  const server = useServer(undefined, { BOTSTEAD_CHAT_SECRET: chatSecret })
  let own: Tenant
  let other: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
    other = await settle(server(), await addAccount(server()))
  })

  const example = ({ webhookId, userKey, conversationId }: Tenant) => ({
    params: { webhookId },
    headers: { 'x-user-key': userKey },
    body: { conversationId, payload: { type: 'text', text: 'Hello' } },
  })
  const messages = (tenant: Tenant) => server().client(tenant).chatListMessages(tenant)

  const sign = (claims: Record<string, unknown>, secret = chatSecret, alg = 'HS256') =>
    new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT' }).sign(Buffer.from(secret))
  const unsigned = (claims: object) => `${base64({ alg: 'none', typ: 'JWT' })}.${base64(claims)}.`
  const seconds = () => Math.floor(server().clock.now() / 1000)

  const unauthorized = { status: 401, type: 'Unauthorized' }
  const invalid: Refusal = {
    ...unauthorized,
    message: 'x-user-key holds no valid user key of this chat address.',
  }
  const required: Refusal = {
    status: 400,
    type: 'InvalidPayload',
    message: 'The header x-user-key is required.',
  }
  const keys: [string, () => unknown, Refusal][] = [
    ['no key', () => absent, required],
    ['an empty key', () => '', invalid],
    ['a key that is none', () => 'nonsense', invalid],
    ['a personal token', () => own.token, invalid],
    ['a key that was changed', () => `${own.userKey.slice(0, -4)}AAAA`, invalid],
    ['a key signed with another secret', () => sign({ id: own.userId }, 'not the secret'), invalid],
    ['a key that is not signed', () => unsigned({ id: own.userId }), invalid],
    [
      'a key signed in another way',
      () => sign({ id: own.userId }, chatSecret.repeat(2), 'HS512'),
      invalid,
    ],
    [
      'a key without an id',
      () => sign({}),
      { ...unauthorized, message: 'The user key in the header x-user-key names no user.' },
    ],
    ...['a\0b', '\ud800'].map((id): [string, () => unknown, Refusal] => [
      `a key with the id ${JSON.stringify(id)}, which no database stores`,
      () => sign({ id }),
      { ...unauthorized, message: 'The user key in the header x-user-key names no user.' },
    ]),
    [
      'a key whose id is no text',
      () => sign({ id: 7 }),
      { ...unauthorized, message: 'The user key in the header x-user-key names no user.' },
    ],
    [
      'a key that has expired',
      () => sign({ id: own.userId, exp: seconds() - 60 }),
      { ...unauthorized, message: 'The user key in x-user-key has expired.' },
    ],
    ['a key for later', () => sign({ id: own.userId, nbf: seconds() + 60 }), invalid],
    [
      'a key of another chat address',
      () => other.userKey,
      {
        ...unauthorized,
        message: 'The user key in the header x-user-key belongs to another chat address.',
      },
    ],
    [
      'a key of a user who does not exist',
      () => sign({ id: 'nobody' }),
      { status: 403, type: 'Forbidden', message: /^You are not a participant of conversation / },
    ],
  ]
  it.each(keys)('%s is refused', async (_, key, refusal) => {
    const before = await messages(own)
    const request = replaced(example(own), 'headers.x-user-key', await key())
    await expectRefusal(await send(server(), createMessage, request), refusal)
    expect(await messages(own)).toEqual(before)
  })

  it('a key that the app signed with the secret is accepted', async () => {
    const key = await sign({ id: own.userId, exp: seconds() + 60, anything: 'else' })
    const request = replaced(example(own), 'headers.x-user-key', key)
    expect((await send(server(), createMessage, request)).status).toBe(201)
  })

  const places: [string, string, () => string, Refusal][] = [
    [
      'the chat address of another tenant',
      'params.webhookId',
      () => other.webhookId,
      {
        ...unauthorized,
        message: 'The user key in the header x-user-key belongs to another chat address.',
      },
    ],
    [
      'a chat address of nobody',
      'params.webhookId',
      () => 'nobody',
      { status: 404, type: 'ResourceNotFound', message: 'There is no chat address nobody.' },
    ],
    [
      'the conversation of another tenant',
      'body.conversationId',
      () => other.conversationId,
      {
        status: 403,
        type: 'Forbidden',
        message: /^You are not a participant of conversation conv_/,
      },
    ],
    [
      'a conversation of nobody',
      'body.conversationId',
      () => 'nobody',
      {
        status: 403,
        type: 'Forbidden',
        message: 'You are not a participant of conversation nobody.',
      },
    ],
  ]
  it.each(places)('%s is refused', async (_, place, value, refusal) => {
    const before = [await messages(own), await messages(other)]
    const request = replaced(example(own), place, value())
    await expectRefusal(await send(server(), createMessage, request), refusal)
    expect([await messages(own), await messages(other)]).toEqual(before)
  })

  it('a disabled chat is not found', async () => {
    const closed = await settle(server(), own)
    const admin = server().client({ ...own, headers: { 'x-multiple-integrations': 'true' } })
    await admin.updateBot({ id: closed.botId, integrations: { chat: { enabled: false } } })
    await expectRefusal(await send(server(), createMessage, example(closed)), {
      status: 404,
      type: 'ResourceNotFound',
      message: `There is no chat address ${closed.webhookId}.`,
    })
  })

  it('the chat of a deleted bot is not found', async () => {
    const gone = await settle(server(), own)
    await server().client(own).deleteBot({ id: gone.botId })
    await expectRefusal(await send(server(), createMessage, example(gone)), {
      status: 404,
      type: 'ResourceNotFound',
      message: `There is no chat address ${gone.webhookId}.`,
    })
  })
})

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
