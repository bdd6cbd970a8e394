import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Client } from '@botstead/contract'
import pg from 'pg'
import { describe, expect, inject, it, vi } from 'vitest'
import { part } from '../part.js'
import { runCommand } from '../processes.js'
import { addAccount } from '../tenant.js'
import { installAt, openTunnel, output } from '../tunnel-tool.js'
import { asAdmin, bySse, openRoom, type Room } from './rooms.js'
import { describePlacesSlow, placesElsewhere, useServers } from './two-servers.js'

const password = 'seven green teapots'
const logs = '/v1/admin/logs/stream'

describePlacesSlow('at $name (another process: $isElsewhere)', (place) => {
  const servers = useServers(place, { BOTSTEAD_SESSION_LIFETIME: '10m' })

  /** Begins an export, and takes nothing of it. */
  async function beginExport(room: Pick<Room, 'token' | 'workspaceId'>): Promise<IncomingMessage> {
    const { address } = servers()
    const headers = asAdmin(room)
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${address}/v1/admin/conversations/export?messages=true`, { headers }, resolve).once(
        'error',
        reject,
      )
    })
    response.on('error', () => undefined).pause()
    return response
  }

  const ends: [what: string, end: (room: Room) => Promise<unknown>][] = [
    [
      'its token is deleted',
      ({ owner, token }) => owner.deletePersonalAccessToken({ id: token.id }),
    ],
    [
      'its workspace is deleted',
      ({ admin, workspaceId }) => admin.deleteWorkspace({ id: workspaceId }),
    ],
  ]
  it.each(ends)('an export ends when %s, also while nobody reads it', async (_, end) => {
    const { first, untimed } = servers()
    await untimed(async () => {
      const [room, other] = [await openRoom(first), await openRoom(first)]
      // More than a connection takes that nobody reads.
      const payload = { type: 'text' as const, text: 'x'.repeat(100_000) }
      const { conversationId, webhookId, userKey } = room
      const chat = first.client({ webhookId, userKey })
      for (let count = 0; count < 120; count++) {
        await chat.chatCreateMessage({ conversationId, payload })
      }
      const exports = [await beginExport(room), await beginExport(room)]
      for (const { statusCode } of exports) expect(statusCode).toBe(200)
      // As many as an account may have; when they have ended, there is room for another.
      const last = async () => {
        const response = await beginExport(other)
        response.destroy()
        return response.statusCode
      }
      expect(await last()).toBe(429)
      await end(room)
      await vi.waitFor(async () => expect(await last()).toBe(200))
      for (const each of exports) {
        expect(await text(each).catch(() => 'cut off')).not.toContain('"kind":"end"')
      }
    })
  })

  it('a stream ends when its session expires, and not before', async () => {
    const { address, first, clocks, untimed } = servers()
    await untimed(async () => {
      const room = await openRoom(first)
      const page = { origin: address, 'content-type': 'application/json' }
      const signedIn = await fetch(`${address}/v1/admin/sessions`, {
        method: 'POST',
        headers: page,
        body: JSON.stringify({ token: room.token.value }),
      })
      const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';')
      const { session } = Object(await signedIn.json())
      const stream = await bySse(address + logs, {
        cookie,
        origin: address,
        'x-workspace-id': room.workspaceId,
      })
      const pass = (milliseconds: number) => {
        for (const clock of clocks) clock.advance(milliseconds)
      }
      pass(Date.parse(session.expiresAt) - first.clock.now() - 5000)
      // Once a stream that was opened later has ended, this one was checked, and its session was still valid.
      const other = await bySse(address + logs, asAdmin(room))
      await room.owner.deletePersonalAccessToken({ id: room.token.id })
      await vi.waitFor(() => expect(other.ended).toBe(true))
      expect(stream.ended).toBe(false)
      pass(6000)
      await vi.waitFor(() => expect(stream.ended).toBe(true))
    })
  })

  it.each([
    ['all others are ended', (page: Client) => page.deleteOtherSessions()],
    [
      'its password is changed',
      (page: Client) =>
        page.changePassword({ password: 'nine purple ladders', currentPassword: password }),
    ],
  ])('a session and its streams end when %s', async (_, end) => {
    const { address, first, untimed } = servers()
    await untimed(async () => {
      const login = await addAccount(first)
      const owner = first.client(login)
      await owner.changePassword({ password })
      const { account } = await owner.getAccount()
      const signIn = async (url: string) => {
        const response = await fetch(`${url}/v1/admin/sign-in/password`, {
          method: 'POST',
          headers: { origin: url, 'content-type': 'application/json' },
          body: JSON.stringify({ email: account.email, password }),
        })
        expect(response.status).toBe(201)
        return (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
      }
      const headers = { cookie: await signIn(address), origin: address }
      const statusThere = async () =>
        (await fetch(`${address}/v1/admin/account/me`, { headers })).status
      const stream = await bySse(address + logs, {
        ...headers,
        'x-workspace-id': login.workspaceId,
      })
      // Known to the process from memory, whose clock stands still.
      expect(await statusThere()).toBe(200)
      const own = { cookie: await signIn(first.url), origin: first.url }
      await end(first.client({ token: undefined, headers: own }))
      await vi.waitFor(async () => expect(await statusThere()).toBe(401))
      await vi.waitFor(() => expect(stream.ended).toBe(true))
      // Tokens stay.
      await owner.getAccount()
    })
  })

  it('a development tunnel ends with its workspace', async () => {
    const { address, first } = servers()
    const room = await openRoom(first)
    using tool = await openTunnel(
      { url: address },
      { onCall: (call) => call.respond(output({ here: true })) },
    )
    const as = { workspaceId: room.workspaceId }
    const { act } = await installAt(first, tool.url, as)
    expect(await act()).toEqual({ here: true })
    await room.admin.deleteWorkspace({ id: room.workspaceId })
    expect(await tool.closed).toEqual({
      code: 4000,
      reason: 'the workspace of this tunnel was deleted',
    })
  })

  it('a stream ends when the command revokes its token', async () => {
    const { address, first, environment, untimed } = servers()
    await untimed(async () => {
      const room = await openRoom(first)
      const [stream, other] = [
        await bySse(address + logs, asAdmin(room)),
        await bySse(
          address + logs,
          asAdmin({ ...room, token: { ...room.token, value: first.token } }),
        ),
      ]
      const { status, stderr } = await runCommand(['token', 'revoke', room.token.id], environment)
      expect([status, stderr]).toEqual([0, expect.stringContaining('was revoked')])
      await vi.waitFor(() => expect(stream.ended).toBe(true))
      expect(other.ended).toBe(false)
      other.close()
    })
  })
})

describe.runIf(part !== 'long').each(placesElsewhere)('at another process on $name', (place) => {
  const servers = useServers(place)

  it('streams end that missed the end of their token, once hints arrive again', async () => {
    const { address, first, environment, untimed } = servers()
    const { DATABASE_URL: url = '' } = environment
    const name = new URL(url).pathname.slice(1)
    const inside = new pg.Client({ connectionString: url })
    const outside = new pg.Client({ connectionString: inject('postgresUrl') })
    await Promise.all([inside.connect(), outside.connect()])
    const allow = (isAllowed: boolean) =>
      outside.query(
        `alter database ${pg.escapeIdentifier(name)} with allow_connections ${isAllowed}`,
      )
    const hints: string[] = []
    inside.on('notification', ({ payload }) => hints.push(payload ?? ''))
    await inside.query('listen botstead_hints')
    try {
      await untimed(async () => {
        const [room, another] = [await openRoom(first), await openRoom(first)]
        const stream = await bySse(address + logs, asAdmin(room))
        // Once a stream that was opened later has ended, this one has had its first check, which needs no hint.
        const later = await bySse(address + logs, asAdmin(another))
        await another.owner.deletePersonalAccessToken({ id: another.token.id })
        await vi.waitFor(() => expect(later.ended).toBe(true))
        await allow(false)
        // The connection of the process that started last, to which hints are sent.
        const { rows } =
          await inside.query(`select pid, pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'botstead bus' and datname = current_database()
          order by backend_start desc limit 1`)
        // Until it is gone, it may still pass hints on.
        await vi.waitFor(async () => {
          const of = await inside.query('select from pg_stat_activity where pid = $1', [
            rows[0].pid,
          ])
          expect(of.rowCount).toBe(0)
        })
        await room.owner.deletePersonalAccessToken({ id: room.token.id })
        await vi.waitFor(() => expect(hints.join()).toContain(room.token.id))
        expect(stream.ended).toBe(false)
        await allow(true)
        await vi.waitFor(() => expect(stream.ended).toBe(true))
      })
    } finally {
      await allow(true)
      await Promise.all([inside.end(), outside.end()])
    }
  })
})
