import fc from 'fast-check'
import { base64url, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { ManualTime } from '../../../test/manual-time.js'
import type { ChatAddress } from '../../domain/actor.js'
import { createUserKeys } from './user-keys.js'

const shared: ChatAddress = {
  workspaceId: 'workspace',
  botId: 'bot',
  webhookId: 'hook',
  alias: 'chat',
  encryptionKey: undefined,
}
const personal: ChatAddress = { ...shared, webhookId: 'own-hook', encryptionKey: 'four' }
const sharedSecret = Buffer.from('the secret of the operator')
const refused = { type: 'Unauthorized' }

function setUp(lifetimeMs?: number) {
  const time = new ManualTime()
  return { time, keys: createUserKeys({ sharedSecret, clock: time, lifetimeMs }) }
}

const signed = (claims: JWTPayload, secret: Uint8Array = sharedSecret, alg = 'HS256') =>
  new SignJWT(claims).setProtectedHeader({ alg }).sign(secret)

const seconds = (time: ManualTime) => time.now() / 1000

/** The result of verifying a key, also when it throws synchronously. */
const verify = async (keys: ReturnType<typeof setUp>['keys'], chat: ChatAddress, key: string) =>
  keys.verify(chat, key)

describe('user keys', () => {
  it('identify their holder', async () => {
    const { keys, time } = setUp()
    const key = await keys.sign(shared, 'ada', null)
    expect(await keys.verify(shared, key)).toEqual({
      kind: 'chat-user',
      chat: shared,
      userKeyId: 'ada',
      keyIssuedAt: time.now(),
    })
  })

  it('are verified from the cache without waiting', async () => {
    const { keys } = setUp()
    const key = await keys.sign(shared, 'ada', null)
    const first = await keys.verify(shared, key)
    expect(keys.verify(shared, key)).toBe(first)
  })

  it('may be signed by an app that knows the secret, with any further claims', async () => {
    const { keys } = setUp()
    const key = await signed({ id: 'ada', role: 'admin', iat: 1 })
    expect(await keys.verify(shared, key)).toMatchObject({ userKeyId: 'ada' })
  })

  it('are verified with the encryption key of the address where it has one', async () => {
    const { keys } = setUp()
    const own = await signed({ id: 'ada' }, Buffer.from('four'))
    expect(await keys.verify(personal, own)).toMatchObject({ userKeyId: 'ada' })
    await expect(verify(keys, personal, await signed({ id: 'ada' }))).rejects.toMatchObject(refused)
    await expect(verify(keys, shared, own)).rejects.toMatchObject(refused)
  })

  it('issued by the server are valid only at the address that issued them', async () => {
    const { keys } = setUp()
    const key = await keys.sign(shared, 'ada', null)
    const other = { ...shared, webhookId: 'another' }
    await expect(verify(keys, other, key)).rejects.toMatchObject(refused)
  })

  it('are refused with every other algorithm', async () => {
    const { keys } = setUp()
    for (const alg of ['HS384', 'HS512']) {
      const key = await signed({ id: 'ada' }, sharedSecret, alg)
      await expect(verify(keys, shared, key)).rejects.toMatchObject(refused)
    }
    const none = base64url.encode(JSON.stringify({ alg: 'none' }))
    const body = base64url.encode(JSON.stringify({ id: 'ada' }))
    await expect(verify(keys, shared, `${none}.${body}.`)).rejects.toMatchObject(refused)
  })

  it('are refused after a change of a bit', async () => {
    const { keys } = setUp()
    const key = await keys.sign(shared, 'ada', null)
    const body = base64url.encode(JSON.stringify({ id: 'eve' }))
    await expect(verify(keys, shared, key.replace(/\.[^.]+\./, `.${body}.`))).rejects.toMatchObject(
      refused,
    )
  })

  it.each([{}, { id: '' }, { id: 7 }, { id: null }, { sub: 'ada' }])(
    'are refused when they name no user: %o',
    async (claims) => {
      const { keys } = setUp()
      await expect(verify(keys, shared, await signed(claims))).rejects.toMatchObject(refused)
    },
  )

  it('are valid between their times, also when they are cached', async () => {
    const { keys, time } = setUp()
    const start = seconds(time)
    const key = await signed({ id: 'ada', nbf: start + 10, exp: start + 20 })
    await expect(verify(keys, shared, key)).rejects.toMatchObject(refused)
    time.advance(10_000)
    expect(await keys.verify(shared, key)).toMatchObject({ userKeyId: 'ada' })
    time.advance(9_999)
    expect(await keys.verify(shared, key)).toMatchObject({ userKeyId: 'ada' })
    time.advance(1)
    await expect(verify(keys, shared, key)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('expired'),
    })
  })

  it('issued by the server are later than a revocation, to the millisecond', async () => {
    const { keys, time } = setUp()
    const revoked = new Date(time.now() + 7).toISOString()
    const key = await keys.sign(shared, 'ada', revoked)
    expect(await keys.verify(shared, key)).toMatchObject({ keyIssuedAt: time.now() + 8 })
  })

  it('issued by the server expire as configured, also those issued before', async () => {
    const { keys, time } = setUp(60_000)
    const old = await createUserKeys({ sharedSecret, clock: time, lifetimeMs: undefined }).sign(
      shared,
      'ada',
      null,
    )
    const key = await keys.sign(shared, 'ada', null)
    const own = await signed({ id: 'ada', iat: seconds(time) })
    time.advance(59_999)
    for (const each of [old, key]) {
      expect(await keys.verify(shared, each)).toMatchObject({ userKeyId: 'ada' })
    }
    time.advance(1)
    for (const each of [old, key]) {
      await expect(verify(keys, shared, each)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining('expired'),
      })
    }
    expect(await keys.verify(shared, own)).toMatchObject({ keyExpiresAt: undefined })
  })

  it('issued in the future are refused, except for a small clock difference', async () => {
    const { keys, time } = setUp()
    const issuedIn = (ahead: number) => signed({ id: 'ada', iat: seconds(time) + ahead })
    expect(await keys.verify(shared, await issuedIn(60))).toMatchObject({ userKeyId: 'ada' })
    await expect(verify(keys, shared, await issuedIn(61))).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('future'),
    })
  })

  it('are verified again when the secret of their address changed', async () => {
    const { keys } = setUp()
    const key = await signed({ id: 'ada' }, Buffer.from('four'))
    await keys.verify(personal, key)
    await expect(verify(keys, { ...personal, encryptionKey: 'five' }, key)).rejects.toMatchObject(
      refused,
    )
  })

  it('that are malformed are refused like wrong ones', async () => {
    const { keys } = setUp()
    const part = fc.oneof(
      fc.string(),
      fc.json().map((text) => base64url.encode(text)),
      fc.constant(base64url.encode('{"alg":"HS256","crit":["exp"]}')),
      fc.constant(base64url.encode('{"alg":"HS256"}')),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        await expect(verify(keys, shared, parts.join('.'))).rejects.toMatchObject(refused)
      }),
    )
  })
})
