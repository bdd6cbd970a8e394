import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import type { TestServer } from './harness.js'
import { eventually } from './jobs.js'

/** A call that arrived through a tunnel. */
interface TunnelledCall {
  id: string
  method: string
  path: string
  query?: string
  headers: Record<string, string>
  body: string
  /** The operation in its headers. */
  operation: string | undefined
  /** Sends a response; by default 200 and `{}`. */
  respond(response?: object): void
}

/** The developer's end of a tunnel, as existing tools speak the protocol. */
export interface TunnelTool extends Disposable {
  id: string
  /** Address that a bot or an integration gets. */
  url: string
  socket: WebSocket
  /** Calls so far, except for those with `register`, which are answered. */
  calls: TunnelledCall[]
  closed: Promise<{ code: number; reason: string }>
  send(frame: unknown): void
}

interface ToolOptions {
  id?: string
  key?: string
  /** Whether it gives signs of life when it is asked for them. Default true. */
  autoPong?: boolean
  /** Handles each call; by default they wait in `calls`. */
  onCall?: (call: TunnelledCall) => void
}

/** Opens a tunnel; rejects with the status and the body if the server refuses. */
export async function openTunnel(
  { url }: { url: string },
  { id = randomUUID(), key, autoPong = true, onCall = () => {} }: ToolOptions = {},
): Promise<TunnelTool> {
  const path = [key, id].filter((part) => part !== undefined).join('/')
  const socket = new WebSocket(`${url.replace('http', 'ws')}/tunnel/${path}`, { autoPong })
  const calls: TunnelledCall[] = []
  const send = (frame: unknown) =>
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  socket.on('message', (data) => {
    const { type, ...request } = JSON.parse(String(data))
    if (type === 'hello') return
    const call: TunnelledCall = {
      ...request,
      operation: request.headers['x-bp-operation'],
      respond: (response = {}) =>
        send({ type: 'response', requestId: request.id, status: 200, body: '{}', ...response }),
    }
    if (call.operation === 'register') return call.respond()
    calls.push(call)
    onCall(call)
  })
  const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
  await opened(socket)
  socket.on('error', () => {})
  return {
    id,
    url: `${url}/${id}`,
    socket,
    calls,
    closed,
    send,
    [Symbol.dispose]: () => socket.terminate(),
  }
}

async function opened(socket: WebSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
    socket.once('unexpected-response', (_request, response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.once('end', () => {
        socket.removeAllListeners('error')
        socket.on('error', () => {})
        reject(new Error(`${response.statusCode} ${body}`))
      })
    })
  })
}

/**
 * An integration at an address, installed in a bot: its actions are calls that wait for a response.
 * @param about what else the definition has
 */
export async function installAt(
  server: TestServer,
  url: string,
  as: object = {},
  about: { dev?: boolean; maxExecutionTime?: number } = {},
) {
  const admin = server.client({ headers: { 'x-multiple-integrations': 'true' }, ...as })
  const { integration } = await admin.createIntegration({
    name: `tool-${randomUUID()}`,
    version: '1.0.0',
    dev: true,
    ...about,
    url,
    actions: { act: { input: { schema: {} }, output: { schema: {} } } },
  })
  const { bot } = await admin.createBot({})
  const integrations = { tool: { integrationId: integration.id, enabled: true, configuration: {} } }
  const { bot: updated } = await admin.updateBot({ id: bot.id, integrations })
  const inBot = server.client({ ...as, botId: bot.id })
  return {
    botId: bot.id,
    webhookUrl: updated.integrations.tool?.webhookUrl ?? '',
    act: async (input: Record<string, unknown> = {}) =>
      (await inBot.callAction({ type: 'tool:act', input })).output as Record<string, unknown>,
  }
}

/** Waits until the server has noticed that no tool is connected. */
export async function untilAllAreGone(server: TestServer) {
  await eventually(async () => {
    expect(await (await server.fetch('/metrics')).text()).toMatch(/^botstead_tunnels 0$/m)
  })
}

/** The response to an action. */
export const output = (value: object) => ({
  body: JSON.stringify({ output: value, meta: { cost: 0 } }),
})
