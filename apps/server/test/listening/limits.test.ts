import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { useServer } from '../harness.js'
import { receivedBy } from '../raw-http.js'
import { openRoom } from './raw-stream.js'

describe('chat addresses under load', () => {
  const server = useServer(undefined, {
    BOTSTEAD_CHAT_NEW_USERS: '4',
    BOTSTEAD_CHAT_USER_MESSAGES: '3',
    BOTSTEAD_CHAT_ADDRESS_MESSAGES: '5',
  })

  // Without time that passes, no limit becomes lower meanwhile.
  const untimed = (test: () => Promise<void>) => () => server().clock.hold(test)

  it(
    'count new users by address, and messages by user and by address',
    untimed(async () => {
      const room = await openRoom(server())
      const guest = await room.guest()
      await room.owner.chat.chatAddParticipant({
        conversationId: room.conversation.id,
        userId: guest.user.id,
      })
      for (let i = 0; i < 3; i++) await room.say('x')
      const limited = { type: 'RateLimited' }
      await expect(room.say('x')).rejects.toMatchObject(limited)
      // The other user of the same address has its own count, and the address one over both.
      await room.say('x', guest.chat)
      await expect(room.say('x', guest.chat)).rejects.toMatchObject(limited)
      await room.guest()
      await room.guest()
      await expect(room.guest()).rejects.toMatchObject(limited)
      const refused = await server().fetch(`/chat/${room.webhookId}/users`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      expect(refused.status).toBe(429)
      expect(refused.headers.get('ratelimit-limit')).toBe('4')
      expect(refused.headers.get('ratelimit-remaining')).toBe('0')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      server().clock.advance(60_000)
      await room.guest()
      await room.say('x')
    }),
  )

  it('ignore an offer of HTTP/2 in a request', async () => {
    const { port, hostname } = new URL(server().url)
    const body = JSON.stringify({ name: 'Ada' })
    const room = await openRoom(server())
    const socket = connect(Number(port), hostname)
    const received = receivedBy(socket)
    socket.write(
      [
        `POST /chat/${room.webhookId}/users HTTP/1.1`,
        'Host: localhost',
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABk',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    )
    await vi.waitFor(() => expect(received()).toContain('"name":"Ada"'))
    expect(received()).toMatch(/^HTTP\/1\.1 201 /)
    socket.destroy()
  })
})

describe('chat addresses with the limits that they have by themselves', () => {
  const server = useServer()

  it('do not count callers on the same machine', async () => {
    const room = await openRoom(server())
    await Promise.all(Array.from({ length: 61 }, () => room.guest()))
    await Promise.all(Array.from({ length: 121 }, () => room.say('x')))
  })
})
