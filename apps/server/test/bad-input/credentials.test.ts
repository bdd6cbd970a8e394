import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { absent, expectRefusal, type Refusal, replaced, send } from '../request.js'
import { addAccount, addViewer, type Login, settle, type Tenant } from '../tenant.js'
import { mainCalls, tokenCalls } from './calls.js'

const unauthorized = { status: 401, type: 'Unauthorized' }
const missing = {
  ...unauthorized,
  message: 'The header Authorization is missing: send "Bearer <token>".',
}
const malformed = {
  ...unauthorized,
  message: 'The header Authorization must have the form "Bearer <token>".',
}
const unknown = {
  ...unauthorized,
  message: 'The token in Authorization is not valid, or was revoked.',
}

describe('credentials', () => {
  const server = useServer()
  let own: Tenant
  let other: Tenant
  let viewer: Login
  beforeAll(async () => {
    own = await settle(server(), server())
    other = await settle(server(), await addAccount(server()))
    viewer = await addViewer(server(), own.workspaceId)
  })

  describe.each(tokenCalls)('of %s', (_, call) => {
    const scopeHeader = call.scope ?? ''
    const notYours: Refusal = {
      ...unauthorized,
      message: `The header ${scopeHeader} must be the id of a ${scopeHeader.slice(2, -3)} that the token may use.`,
    }
    const scopeOf = (tenant: Tenant) =>
      call.scope === 'x-bot-id' ? tenant.botId : tenant.workspaceId

    let before: unknown
    beforeEach(async () => {
      before = await call.stored(server(), own)
    })

    /** Expects that the example of the own tenant with one changed header is refused and stores nothing. */
    async function expectRefused(header: string, value: unknown, refusal: Refusal) {
      const request = replaced(call.example(own), `headers.${header}`, value)
      await expectRefusal(await send(server(), call.operation, request), refusal)
      expect(await call.stored(server(), own)).toEqual(before)
    }

    it.each([
      ['no header', absent, missing],
      ['an empty header', '', missing],
      ['another scheme', 'Basic dXNlcjpwYXNz', malformed],
      ['a scheme alone', 'Bearer', malformed],
      ['two tokens', 'Bearer one two', malformed],
      ['an unknown token', 'Bearer bp_pat_nobody', unknown],
      ['a token longer than any', `Bearer ${'x'.repeat(5000)}`, unknown],
    ])('Authorization: %s is refused', async (_name, value, refusal) => {
      await expectRefused('authorization', value, refusal)
    })

    it('a revoked token is refused at once', async () => {
      const { pat } = await server().client(own).createPersonalAccessToken({ note: 'short-lived' })
      const authorization = `Bearer ${pat.value}`
      const request = replaced(call.example(own), 'headers.authorization', authorization)
      expect((await send(server(), call.operation, request)).ok).toBe(true)
      before = await call.stored(server(), own)
      await server().client(own).deletePersonalAccessToken({ id: pat.id })
      await expectRefused('authorization', authorization, unknown)
    })

    it('the token of another tenant is refused', async () => {
      await expectRefused('authorization', `Bearer ${other.token}`, notYours)
    })

    it.each([
      ['another tenant', () => scopeOf(other)],
      ['an unknown id', () => '00000000-0000-4000-8000-000000000000'],
      ['no id at all', () => 'nonsense'],
      ['nothing that is ASCII', () => 'ü'],
    ])(`${scopeHeader} of %s is refused`, async (_name, value) => {
      await expectRefused(scopeHeader, value(), notYours)
    })

    it('a read-only member is refused with the reason', async () => {
      const request = replaced(call.example(own), 'headers.authorization', `Bearer ${viewer.token}`)
      const response = await send(server(), call.operation, request)
      if (call.operation.method === 'GET') return expect(response.status).toBe(200)
      await expectRefusal(response, {
        status: 403,
        type: 'Forbidden',
        message: `The role viewer in this workspace does not include ${call.operation.permission}, which this operation needs.`,
      })
      expect(await call.stored(server(), own)).toEqual(before)
    })
  })

  it('the key of a bot is not accepted as a personal token', async () => {
    const [, listBots] = tokenCalls[0] ?? []
    if (listBots === undefined) throw new Error('listBots comes first')
    const request = replaced(listBots.example(own), 'headers.authorization', `Bearer ${own.botKey}`)
    await expectRefusal(await send(server(), listBots.operation, request), {
      status: 403,
      type: 'Forbidden',
      message:
        'The token in Authorization is the key of a bot, and bot keys may not do this: this call takes the personal access token of a member of the workspace, as "botstead token create" and createPersonalAccessToken make them.',
    })
  })

  describe.each(tokenCalls.filter(([, { scope }]) => scope === 'x-bot-id'))('of %s', (_, call) => {
    it('the key of a bot is accepted for this bot', async () => {
      const request = replaced(call.example(own), 'headers.authorization', `Bearer ${own.botKey}`)
      expect((await send(server(), call.operation, request)).ok).toBe(true)
    })

    it('the key of another bot is refused', async () => {
      const sibling = await settle(server(), own)
      for (const key of [sibling.botKey, other.botKey]) {
        const request = replaced(call.example(own), 'headers.authorization', `Bearer ${key}`)
        await expectRefusal(await send(server(), call.operation, request), {
          ...unauthorized,
          message: 'The header x-bot-id must be the id of a bot that the token may use.',
        })
      }
    })

    it('the key of a deleted bot, and the bot itself, are refused', async () => {
      const gone = await settle(server(), own)
      await server().client(own).deleteBot({ id: gone.botId })
      await expectRefusal(await send(server(), call.operation, call.example(gone)), {
        ...unauthorized,
        message: 'The header x-bot-id must be the id of a bot that the token may use.',
      })
      // The key itself is deleted a little later, with everything else of the bot.
      const request = replaced(call.example(gone), 'headers.authorization', `Bearer ${gone.botKey}`)
      await expectRefusal(await send(server(), call.operation, request), {
        ...unauthorized,
        message: 'The header x-bot-id must be the id of a bot that the token may use.',
      })
    })
  })

  it('every main call is refused without its credential', async () => {
    for (const [, call] of mainCalls) {
      const request = replaced(call.example(own), `headers.${call.credential}`, absent)
      const { status } = await send(server(), call.operation, request)
      expect([400, 401]).toContain(status)
    }
  })
})
