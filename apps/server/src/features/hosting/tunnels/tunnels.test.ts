import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { describeInUsual, describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { eventually } from '../../../../test/jobs.js'
import { addAccount } from '../../../../test/tenant.js'
import {
  installAt,
  openTunnel,
  output,
  type TunnelTool,
  untilAllAreGone,
} from '../../../../test/tunnel-tool.js'

const minute = 60_000

/** Resolves when the server has asked a tool for a sign of life and has read it, or has closed the tunnel. */
async function nextSignOfLife({ socket, closed }: TunnelTool) {
  if (socket.readyState !== socket.OPEN) return
  await Promise.race([once(socket, 'ping'), closed])
  if (socket.readyState !== socket.OPEN) return
  // The tool has responded by now, and the server reads one after the other.
  socket.ping()
  await Promise.race([once(socket, 'pong'), closed])
}

describeSlow('a development tunnel', (engine) => {
  const server = useServer(engine)

  it('carries calls with their headers and bodies, and the responses', async () => {
    using tool = await openTunnel(server(), {
      onCall: (call) => call.respond(output(JSON.parse(call.body).input)),
    })
    const { botId, act } = await installAt(server(), tool.url)
    expect(await act({ text: 'ä😀"\u2028' })).toEqual({ text: 'ä😀"\u2028' })
    const [call] = tool.calls
    expect(call).toMatchObject({ method: 'POST', path: '/', operation: 'action_triggered' })
    expect(call?.headers).toMatchObject({
      'x-bot-id': botId,
      'x-botstead-signature': expect.stringMatching(/^t=\d+,v1=/),
    })
  })

  it('is found by its id below any name of the server, which tools may know by another', async () => {
    using tool = await openTunnel(server(), { onCall: (call) => call.respond(output({})) })
    for (const path of ['', '/prefix/tunnel', '/prefix/tunnel/a-key-in-the-address']) {
      const { act } = await installAt(
        server(),
        `https://bots.example.com${path}/${tool.id}/more?a=b`,
      )
      expect(await act()).toEqual({})
      expect(tool.calls.at(-1)).toMatchObject({ path: '/more', query: 'a=b' })
    }
    expect(tool.calls).toHaveLength(3)
  })

  it('is refused an id that could be guessed, and a short key', async () => {
    const uuid1 = '2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d'
    for (const id of ['my-tunnel', uuid1, '00000000-0000-4000-8000-000000000000']) {
      await expect(openTunnel(server(), { id })).rejects.toThrow(/^400 .*random UUID/)
    }
    await expect(openTunnel(server(), { key: 'short' })).rejects.toThrow(/^400 .*16 to 128/)
  })

  it('keeps its id while it works', async () => {
    using tool = await openTunnel(server(), { onCall: (call) => call.respond(output({})) })
    const { act } = await installAt(server(), tool.url)
    await expect(openTunnel(server(), { id: tool.id })).rejects.toThrow(/^409 /)
    expect(await act()).toEqual({})
  })

  it('gives its id to a new connection if it does not work any more', async () => {
    using stuck = await openTunnel(server(), { autoPong: false })
    const { act } = await installAt(server(), stuck.url)
    using _tool = await openTunnel(server(), {
      id: stuck.id,
      onCall: (call) => call.respond(output({ by: 'the new one' })),
    })
    await stuck.closed
    expect(await act()).toEqual({ by: 'the new one' })
  })

  it('is opened only with its key, while its owner is away, too', async () => {
    const key = 'known-to-the-developer'
    const first = await openTunnel(server(), { key })
    const { act } = await installAt(server(), first.url)
    first.socket.close()
    await first.closed
    const { id } = first
    await expect(openTunnel(server(), { id })).rejects.toThrow(/^403 /)
    const guess = { id, key: 'known-to-somebody-else' }
    await expect(openTunnel(server(), guess)).rejects.toThrow(/^403 /)
    using again = await openTunnel(server(), {
      id,
      key,
      onCall: (call) => call.respond(output({})),
    })
    expect(await act()).toEqual({})
    expect(again.calls).toHaveLength(1)
  })

  it('carries calls of one workspace only', async () => {
    using tool = await openTunnel(server(), { onCall: (call) => call.respond(output({})) })
    const own = await installAt(server(), tool.url)
    const stranger = await addAccount(server())
    const other = await installAt(server(), tool.url, stranger)
    await expect(other.act()).rejects.toThrow(/belongs to another workspace/)
    expect(await own.act()).toEqual({})
    expect(tool.calls).toHaveLength(1)
  })

  it('belongs to the first integration that has its address, before that is called', async () => {
    using tool = await openTunnel(server())
    const first = server().client()
    const { id } = tool
    await first.createIntegration({
      name: `early-${id}`,
      version: '1.0.0',
      url: tool.url,
      dev: true,
    })
    const stranger = await addAccount(server())
    await eventually(async () => {
      const other = await installAt(server(), tool.url, stranger)
      await expect(other.act()).rejects.toThrow(/belongs to another workspace/)
    })
  })

  it('lets calls wait while its tool connects again', async () => {
    const tool = await openTunnel(server())
    const { act } = await installAt(server(), tool.url)
    tool.socket.terminate()
    await untilAllAreGone(server())
    const waiting = act({ n: 1 })
    waiting.catch(() => {})
    using again = await openTunnel(server(), {
      id: tool.id,
      onCall: (call) => call.respond(output({ got: JSON.parse(call.body).input })),
    })
    expect(await waiting).toEqual({ got: { n: 1 } })
    expect(again.calls).toHaveLength(1)
  })

  it('sends deliveries again that got no response, and fails actions, which may have had an effect', async () => {
    const tool = await openTunnel(server())
    const { bot } = await server().client().createBot({ url: tool.url, dev: true })
    const { act } = await installAt(server(), tool.url)
    const inBot = server().client({ botId: bot.id })
    await inBot.createEvent({ type: 'noticed', payload: {} })
    const failed = expect(act()).rejects.toThrow(/broke before there was a response/)
    await eventually(() =>
      expect(tool.calls.map(({ operation }) => operation).toSorted()).toEqual([
        'action_triggered',
        'event_received',
      ]),
    )
    tool.socket.terminate()
    await failed
    using again = await openTunnel(server(), { id: tool.id, onCall: (call) => call.respond() })
    await eventually(async () => {
      const { deliveries } = await server().client().listDeliveries({ id: bot.id })
      expect(deliveries).toMatchObject([{ status: 'delivered', attempts: 1 }])
    })
    expect(again.calls.map(({ operation }) => operation)).toEqual(['event_received'])
  })

  it('fails calls at once when its tool has been away for longer', async () => {
    const tool = await openTunnel(server())
    const { act } = await installAt(server(), tool.url)
    tool.socket.terminate()
    await untilAllAreGone(server())
    const waited = expect(act()).rejects.toThrow(/tunnel is not connected/)
    let isOver = false
    waited.finally(() => {
      isOver = true
    })
    await eventually(() => {
      server().clock.advance(minute)
      expect(isOver).toBe(true)
    })
    await waited
    await expect(act()).rejects.toThrow(/tunnel is not connected/)
  })

  it('says that there is none with the id in an address of this server', async () => {
    const { act } = await installAt(server(), `${server().url}/${randomUUID()}`)
    await expect(act()).rejects.toThrow(/no development tunnel with this id/)
  })
})

describeInUsual('the tools at the other end of tunnels', () => {
  const limits = {
    BOTSTEAD_MAX_TUNNELS_PER_ADDRESS: '3',
    BOTSTEAD_MAX_TUNNEL_REQUESTS: '2',
    BOTSTEAD_MAX_TUNNEL_MESSAGE_BYTES: '64KiB',
    BOTSTEAD_MAX_TUNNELS_PER_WORKSPACE: '2',
  }
  const server = useServer(undefined, limits)
  const alive = async () => expect((await server().fetch('/readyz')).status).toBe(200)

  it('are disconnected for anything that is no response, and the server goes on', async () => {
    for (const garbage of [
      'no JSON',
      'null',
      '[]',
      '{"type":"request"}',
      '{"type":"response"}',
      { requestId: 'a', status: '200' },
      { requestId: 'a', status: 99 },
      { requestId: 'a', status: 200, headers: [] },
      { requestId: 'a', status: 200, body: {} },
    ]) {
      using tool = await openTunnel(server())
      tool.send(garbage)
      expect(await tool.closed).toMatchObject({ code: 4002 })
    }
    using tool = await openTunnel(server())
    tool.socket.send(Buffer.from([0, 255]))
    expect(await tool.closed).toMatchObject({ code: 4002 })
    await alive()
  })

  it('are disconnected for frames that are too large, or break the protocol', async () => {
    using large = await openTunnel(server())
    large.send({ requestId: 'a', status: 200, body: 'x'.repeat(70_000) })
    expect((await large.closed).code).toBe(1009)
    using broken = await openTunnel(server())
    const { _socket: socket } = broken.socket as unknown as { _socket: NodeJS.WritableStream }
    socket.write(Buffer.from([0xff, 0xff, 0xff]))
    expect((await broken.closed).code).toBe(1002)
    await alive()
  })

  it('are disconnected for a flood of greetings or of pieces that end in nothing', async () => {
    using talker = await openTunnel(server())
    for (let i = 0; i < 300; i++) talker.send({ type: 'hello' })
    expect(await talker.closed).toMatchObject({ code: 4002, reason: 'too many messages' })
    using pinger = await openTunnel(server())
    const { _socket: socket } = pinger.socket as unknown as { _socket: NodeJS.WritableStream }
    const ping = Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)])
    const pings = Buffer.concat(Array.from({ length: 5000 }, () => ping))
    pinger.socket.on('error', () => {})
    socket.write(pings)
    expect((await pinger.closed).code).toBe(1006)
    await alive()
  })

  it('get only as many tunnels as one address, and calls as one tunnel, may have', async () => {
    using one = await openTunnel(server())
    using _two = await openTunnel(server())
    using three = await openTunnel(server())
    await expect(openTunnel(server())).rejects.toThrow(/^429 /)
    three.socket.close()
    await three.closed
    using _four = await eventually(() => openTunnel(server()))

    const { act } = await installAt(server(), one.url)
    const waiting = [act(), act()]
    await eventually(() => expect(one.calls).toHaveLength(2))
    await expect(act()).rejects.toThrow(/has 2 calls without a response/)
    for (const call of one.calls) call.respond(output({}))
    await Promise.all(waiting)
    await expect(act({ text: 'x'.repeat(70_000) })).rejects.toThrow(/takes 65536/)
  })

  it('share the tunnels of their workspace', async () => {
    const login = await addAccount(server())
    using one = await openTunnel(server())
    using two = await openTunnel(server())
    using three = await openTunnel(server(), { onCall: (call) => call.respond(output({})) })
    for (const tool of [one, two]) await installAt(server(), tool.url, login)
    const { act } = await installAt(server(), three.url, login)
    await expect(act()).rejects.toThrow(/has 2 development tunnels/)
    // While it is away another takes its place.
    one.socket.close()
    await one.closed
    await eventually(async () => expect(await act()).toEqual({}))
    await expect(openTunnel(server(), { id: one.id })).rejects.toThrow(/^429 .*2 open tunnels/)
  })

  it('are disconnected without a sign of life, and when nothing uses their tunnel', async () => {
    using silent = await openTunnel(server(), { autoPong: false })
    using unused = await openTunnel(server())
    using used = await openTunnel(server(), { onCall: (call) => call.respond(output({})) })
    const { act } = await installAt(server(), used.url, await addAccount(server()))
    for (let seconds = 0; seconds < 16 * 60; seconds += 20) {
      const signs = [unused, used].map(nextSignOfLife)
      server().clock.advance(20_000)
      await Promise.all(signs)
    }
    expect(await silent.closed).toMatchObject({ code: 1006 })
    expect(await unused.closed).toMatchObject({ code: 4000 })
    expect(used.socket.readyState).toBe(used.socket.OPEN)
    expect(await act()).toEqual({})
  })

  it('may send odd statuses and headers, of which callers get what is valid', async () => {
    using tool = await openTunnel(server(), {
      onCall: (call) =>
        call.respond({
          status: 201,
          headers: { 'X-Own': ['a', 'b'], 'bad name': 'x', 'x-broken': 'a\r\nb', etag: 1 },
          body: 'made',
        }),
    })
    const { webhookUrl } = await installAt(server(), tool.url, await addAccount(server()))
    const response = await fetch(webhookUrl)
    expect([response.status, await response.text()]).toEqual([201, 'made'])
    expect(response.headers.get('x-own')).toBe('a, b')
    expect(response.headers.get('etag')).toBe('1')
    expect(response.headers.get('x-broken')).toBeNull()
  })

  it('get no headers passed on that no HTTP client would read', async () => {
    using tool = await openTunnel(server(), {
      onCall: (call) => call.respond({ headers: { 'x-long': 'x'.repeat(17_000) } }),
    })
    const { webhookUrl } = await installAt(server(), tool.url, await addAccount(server()))
    expect((await fetch(webhookUrl)).status).toBe(502)
    expect(tool.socket.readyState).toBe(tool.socket.OPEN)
  })
})
