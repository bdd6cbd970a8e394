import { expect, vi } from 'vitest'
import { existingClient, makeBot, type ReachableServer } from '../existing-clients.js'
import type { TestServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { readMetrics } from '../prometheus.js'

/**
 * Code without the SDK, which is loaded at once.
 * @param handle body of a function of the input of an action and the request; returns the output
 * @param before runs when the code is loaded
 */
export const program = (handle: string, before = '') => `
${before}
const handle = async (input, request) => { ${handle} }
exports.handler = async (request) => {
  const operation = request.headers['x-bp-operation']
  if (operation === 'webhook_received') {
    return { body: JSON.stringify(await handle({ webhook: JSON.parse(request.body).req }, request)) }
  }
  if (operation !== 'action_triggered') return { body: '{}' }
  const output = await handle(JSON.parse(request.body).input, request)
  return { body: JSON.stringify({ output: output ?? {} }) }
}
`

/**
 * A bot, without the SDK, that replies to each message after a moment.
 * @param reply an expression of JavaScript for the text of the reply, in which `text` is that of the message
 * @param before what the code does first, with `text`
 */
export const replying = (reply: string, before: string) => `
exports.handler = async ({ headers, body }) => {
  if (headers['x-bp-operation'] !== 'event_received') return { body: '{}' }
  const { message } = JSON.parse(body).event.payload
  if (message?.direction !== 'incoming') return { body: '{}' }
  const { text } = message.payload
  ${before}
  await new Promise((resolve) => setTimeout(resolve, 20))
  const botId = headers['x-bot-id']
  const response = await fetch(process.env.BP_API_URL + '/v1/chat/messages', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer ' + process.env.BP_TOKEN,
      'x-bot-id': botId,
    },
    body: JSON.stringify({
      conversationId: message.conversationId,
      userId: botId,
      type: 'text',
      tags: {},
      payload: { text: ${reply} },
    }),
  })
  if (!response.ok) throw new Error('Status ' + response.status + ': ' + (await response.text()))
  return { body: '{}' }
}
`

/**
 * A bot, without the SDK, that repeats what people say after a moment.
 * @param poison what it does first, with the text
 */
export const echo = (poison: string) => replying(`text + '!'`, poison)

const act = { input: { schema: {} }, output: { schema: {} } }

/** A bot with code that was deployed, and an action. */
export async function deployBot(
  server: ReachableServer,
  code: string,
  rest: { secrets?: Record<string, string>; alwaysAlive?: boolean; maxExecutionTime?: number } = {},
) {
  const { admin, bot, client, webhookId } = await makeBot(server)
  await admin.updateBot({ id: bot.id, code, actions: { act }, ...rest })
  const call = async (input: Record<string, unknown> = {}) =>
    (await client.callAction({ type: 'act', input })).output
  const logs = async () => {
    const page = await admin.getBotLogs({ id: bot.id, timeStart: '2000-01-01T00:00:00Z' })
    return page.logs.map(({ level, message }) => `${level}: ${message}`)
  }
  const redeploy = (next: string) => admin.updateBot({ id: bot.id, code: next })
  return { admin, bot, client, webhookId, call, logs, redeploy }
}

/** The metrics of a server, by name and labels. */
export async function metricsOf({ url }: { url: string }) {
  return readMetrics(await (await fetch(`${url}/metrics`)).text())
}

/** Number of requests that the programs of a server handle, or have waiting. */
export async function openRequests(server: { url: string }) {
  return (await metricsOf(server)).get('botstead_hosting_requests')
}

/** Waits until all bots were called with `register` after their deployment: that call is a request as others are. */
export async function untilRegistered(server: { url: string }) {
  await eventually(async () => {
    const metrics = await metricsOf(server)
    for (const state of ['waiting', 'running']) {
      expect(metrics.get(`botstead_jobs{kind="bots.register",state="${state}"}`) ?? 0).toBe(0)
    }
  })
}

/** Waits for programs that start one after the other on a machine that is shared. */
export const untilStarts = <T>(assertion: () => Promise<T> | T) =>
  vi.waitFor(assertion, { timeout: 120_000, interval: 100 })

/** The same, while the pauses of a server between attempts and between starts pass without a wait. */
export const withoutPauses =
  (server: () => TestServer) =>
  <T>(assertion: () => Promise<T> | T) =>
    untilStarts(async () => {
      try {
        return await assertion()
      } catch (error) {
        // Only as often as the server responds: its leases do not expire while it is busy.
        server().clock.advance(1000)
        throw error
      }
    })

let integrations = 0

/** An integration with code that was deployed, and an action, installed in some bots as `tool`. */
export async function deployIntegration(
  server: ReachableServer,
  code: string,
  {
    bots = 1,
    ...rest
  }: {
    bots?: number
    secrets?: Record<string, string>
    channels?: Parameters<ReturnType<typeof existingClient>['createIntegration']>[0]['channels']
  } = {},
) {
  const admin = existingClient(server, { headers: { 'x-multiple-integrations': 'true' } })
  integrations += 1
  const { integration } = await admin.createIntegration({
    name: `tool-${integrations}`,
    version: '1.0.0',
    code,
    actions: { act },
    ...rest,
  })
  const { id } = integration
  const installed = await Promise.all(Array.from({ length: bots }, () => install()))

  async function install() {
    const { bot } = await admin.createBot({})
    const tool = { integrationId: id, enabled: true }
    const updated = await admin.updateBot({ id: bot.id, integrations: { tool } })
    const client = existingClient(server, { botId: bot.id })
    return {
      botId: bot.id,
      webhookUrl: updated.bot.integrations.tool?.webhookUrl ?? '',
      call: async (input: Record<string, unknown> = {}) =>
        (await client.callAction({ type: 'tool:act', input })).output,
      remove: () => admin.updateBot({ id: bot.id, integrations: { tool: null } }),
    }
  }

  return {
    admin,
    id,
    installed,
    redeploy: (next: string) => admin.updateIntegration({ id, code: next }),
  }
}

/** Whether a process runs. */
export function isRunning(pid: unknown): boolean {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch {
    return false
  }
}
