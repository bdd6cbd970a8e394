import { randomUUID } from 'node:crypto'
import { createClient } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { engines } from '../engines.js'
import { eventually } from '../jobs.js'
import { startServerProcess } from '../processes.js'
import { openTunnel } from '../tunnel-tool.js'

const token = 'a-token-for-tests-only'
const postgres = engines.find(({ name }) => name === 'postgres')

describe.skipIf(!postgres)('a tunnel to one of two processes', () => {
  it('carries the calls of both, and continues at the other when its process dies', async () => {
    await using place = await createCommandPlace(postgres)
    const settings = {
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
      BOTSTEAD_TUNNEL_RECONNECT: '1m',
      LOG_LEVEL: 'error',
    }
    const [here, there] = await Promise.all([
      startServerProcess(settings),
      startServerProcess(settings),
    ])
    await using _here = here
    await using _there = there
    const at = async ({ url }: { url: string }, more = {}) => {
      const client = createClient({ baseUrl: url, token, ...more })
      const { workspaces } = await client.listWorkspaces({})
      return createClient({ baseUrl: url, token, workspaceId: workspaces[0]?.id ?? '', ...more })
    }
    const echo = { body: JSON.stringify({ output: { ok: true }, meta: { cost: 0 } }) }
    const id = randomUUID()
    const key = 'known-to-the-developer'
    const tool = await openTunnel(here, { id, key, onCall: (call) => call.respond(echo) })

    const admin = await at(here, { headers: { 'x-multiple-integrations': 'true' } })
    const { integration } = await admin.createIntegration({
      name: 'developed',
      version: '1.0.0',
      dev: true,
      url: tool.url,
      actions: { act: { input: { schema: {} }, output: { schema: {} } } },
    })
    const { bot } = await admin.createBot({ url: tool.url, dev: true })
    const integrations = { tool: { integrationId: integration.id, enabled: true } }
    await admin.updateBot({ id: bot.id, integrations })
    const act = async (process: { url: string }) =>
      (await (await at(process, { botId: bot.id })).callAction({ type: 'tool:act', input: {} }))
        .output
    expect([await act(here), await act(there)]).toEqual([{ ok: true }, { ok: true }])
    expect(tool.calls).toHaveLength(2)

    // The other process asks the one that has the tunnel whether it works.
    await expect(openTunnel(there, { id, key })).rejects.toThrow(/^409 /)
    expect(await act(there)).toEqual({ ok: true })

    // A call that arrives after the death of the process waits for the tool, which connects again.
    await here.kill()
    await tool.closed
    const waiting = act(there)
    waiting.catch(() => {})
    await expect(openTunnel(there, { id })).rejects.toThrow(/^403 /)
    using again = await eventually(() =>
      openTunnel(there, { id, key, onCall: (call) => call.respond(echo) }),
    )
    expect(await waiting).toEqual({ ok: true })

    const inBot = await at(there, { botId: bot.id })
    const { event } = await inBot.createEvent({ type: 'noticed', payload: {} })
    await eventually(() => {
      const bodies = again.calls.map(({ body }) => JSON.parse(body).event?.id)
      expect(bodies).toContain(event.id)
    })
  })

  it('repeats a delivery at the other process that its own did not live to see answered', async () => {
    await using place = await createCommandPlace(postgres)
    const settings = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
    // The one serves requests alone, so that deliveries are made by the other.
    const [here, there] = await Promise.all([
      startServerProcess({ ...settings, BOTSTEAD_ROLES: 'api', BOTSTEAD_TUNNEL_RECONNECT: '1m' }),
      startServerProcess({ ...settings, BOTSTEAD_TUNNEL_RECONNECT: '1m' }),
    ])
    await using _here = here
    await using _there = there
    const admin = createClient({ baseUrl: there.url, token })
    const workspaceId = (await admin.listWorkspaces({})).workspaces[0]?.id ?? ''
    const tool = await openTunnel(here)
    const inWorkspace = createClient({ baseUrl: there.url, token, workspaceId })
    const { bot } = await inWorkspace.createBot({ url: tool.url, dev: true })
    const inBot = createClient({ baseUrl: there.url, token, workspaceId, botId: bot.id })
    await inBot.createEvent({ type: 'noticed', payload: {} })
    await eventually(() => expect(tool.calls).toHaveLength(1))
    await here.kill()
    await tool.closed
    using again = await eventually(() =>
      openTunnel(there, { id: tool.id, onCall: (call) => call.respond() }),
    )
    await eventually(async () => {
      const { deliveries } = await inWorkspace.listDeliveries({ id: bot.id })
      expect(deliveries).toMatchObject([{ status: 'delivered', attempts: 1 }])
    })
    expect(again.calls.map(({ operation }) => operation)).toEqual(['event_received'])
  })
})
