import { allOperations, type Operation } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { useServer } from '../harness.js'
import { send } from '../request.js'
import { addAccount, settle, type Tenant } from '../tenant.js'
import { inDatabase } from './seed.js'

const words = 'Whispered words'
/** Operations that change little come first, so that there is something left to show. */
const guarded = allOperations
  .filter(({ auth }) => auth === 'workspace' || auth === 'bot')
  .sort((one, other) => rankOf(one) - rankOf(other))
/** Plugins belong to the workspace: all who work on a bot of it may install them. The address of a guest of the tests names a bot. */
const shared = new Set(['getPluginCode', 'getDereferencedPlugin', 'listWorkspaceMembers'])

function rankOf({ method }: Operation): number {
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].indexOf(method)
}

describeSlow('a bot that a caller may not see', (engine) => {
  const server = useServer(engine)

  /** A workspace with a bot that has everything, also lines and errors, and another bot. */
  async function newTeam() {
    const tenant = await settle(server(), await addAccount(server()), words)
    const { workspaceId, botId, integrationId } = tenant
    const owner = server().client(tenant)
    const { bot: open } = await owner.createBot({ name: 'Open' })
    // It has no address, so that its registration fails, of which there is a line.
    const mail = { integrationId, enabled: true, configuration: {} }
    await owner.updateBot({ id: botId, integrations: { mail } })
    const runtime = server().client(tenant)
    await runtime.writeBotLogs({ logs: [{ level: 'error', message: words }] })
    await owner.pauseDeliveries({ id: botId })
    await owner.createDeliveryReplay({ status: ['failed'] })
    await vi.waitFor(async () => {
      const { logs } = await owner.listLogs({ source: 'integration' })
      expect(logs).not.toEqual([])
    })
    const developer = await inDatabase(server(), async (tenants) => {
      const person = await tenants.person()
      await tenants.join(person, { workspace: { workspaceId } }, 'developer')
      return person.token
    })
    await owner.updateBotAllowlist({ botId, setting: 'SELECTED_USERS' })
    return { tenant, owner, open, developer }
  }

  const isStream = ({ headers }: Response) =>
    headers.get('content-type')?.startsWith('text/event-stream') === true
  const isRefusedBeyond = (text: string) => text.includes('this operation concerns the workspace')

  /** Calls each operation about the hidden bot; returns those whose response shows something of it. */
  async function revealing(tenant: Tenant, token: string, given: readonly Operation[]) {
    const found: string[] = []
    for (const operation of given) {
      const { request, headers } = exampleOf(operation)
      const response = await send(server(), operation, {
        ...request(tenant),
        headers: { ...credentialsOf(operation.auth, { ...tenant, token }), ...headers },
      })
      if (isStream(response)) {
        await response.body?.cancel()
        if (operation.id !== 'streamLogs') found.push(operation.id)
        continue
      }
      const text = await response.text()
      // A refusal repeats the id that the caller sent.
      if (!response.ok || shared.has(operation.id)) continue
      if ([tenant.botId, tenant.conversationId, words].some((part) => text.includes(part))) {
        found.push(`${operation.id}: ${text}`)
      }
    }
    return found
  }

  async function expectUnharmed({ tenant, owner }: Awaited<ReturnType<typeof newTeam>>) {
    expect((await owner.getBot({ id: tenant.botId })).bot.name).toBe(words)
    const { baks } = await owner.listBotApiKeys({ botId: tenant.botId })
    expect(baks.map(({ id }) => id)).toEqual([tenant.botKeyId])
    expect(await owner.getWorkspaceConversation({ id: tenant.conversationId })).toBeDefined()
    const { receivers } = await owner.listWorkspaceDeliveryReceivers({ paused: true })
    expect(receivers.map(({ botId }) => botId)).toContain(tenant.botId)
  }

  it('is shown to its developers by none of the operations, nor changed', async () => {
    const team = await newTeam()
    const { tenant, owner, developer } = team
    const bot = { id: tenant.botId }
    expect(
      JSON.stringify(await owner.listIntegrationInstallations({ id: tenant.integrationId })),
    ).toContain(bot.id)
    expect(
      JSON.stringify(
        await owner.getIntegrationLogs({
          id: tenant.integrationId,
          timeStart: '2020-01-01T00:00:00.000Z',
        }),
      ),
    ).toContain('register')
    expect(await revealing(tenant, developer, guarded)).toEqual([])
    const limits = await server()
      .client({ ...tenant, token: developer })
      .listWorkspaceLimits({ id: tenant.workspaceId })
    expect(limits.limits.find(({ name }) => name === 'conversations')).toMatchObject({ used: 0 })
    await expectUnharmed(team)
  })

  it('and the workspace are out of reach of a token for another bot', async () => {
    const team = await newTeam()
    const { tenant, owner, open } = team
    const { workspaceId } = tenant
    const { pat } = await owner.createPersonalAccessToken({
      note: 'one bot',
      workspaceId,
      botId: open.id,
    })
    expect(await revealing(tenant, pat.value, guarded)).toEqual([])
    await expectUnharmed(team)
    const { integrations } = await owner.listIntegrations()
    expect(integrations.map(({ id }) => id)).toEqual([tenant.integrationId])
    const { bots } = await owner.listBots()
    expect(bots.map(({ id }) => id).sort()).toEqual([tenant.botId, open.id].sort())

    const client = server().client({ token: pat.value, workspaceId, botId: open.id })
    await client.updateBot({ id: open.id, name: 'Renamed' })
    const { pats } = await client.listPersonalAccessTokens()
    expect(pats.map(({ id }) => id)).toEqual([pat.id])
    for (const operation of guarded) {
      if (operation.auth !== 'workspace') continue
      const { request, headers } = exampleOf(operation)
      const nothing = '00000000-0000-4000-8000-000000000000'
      const { params = {}, ...given } = request({ ...tenant, botId: open.id })
      const response = await send(server(), operation, {
        ...given,
        params: Object.fromEntries(Object.keys(params).map((name) => [name, nothing])),
        headers: {
          ...credentialsOf('workspace', { ...tenant, token: pat.value }),
          ...headers,
        },
      })
      if (isStream(response)) await response.body?.cancel()
      const isRefused = !response.ok && isRefusedBeyond(await response.text())
      expect([operation.id, isRefused]).toEqual([operation.id, operation.concerns === 'workspace'])
    }
  })

  it('appears in no stream of logs that another member opened first, and in that of its own members', async () => {
    const { tenant, developer, open } = await newTeam()
    async function follow(token: string) {
      const abort = new AbortController()
      const response = await server().fetch('/v1/admin/logs/stream', {
        headers: credentialsOf('workspace', { ...tenant, token }),
        signal: abort.signal,
      })
      const stream = { text: '', close: () => abort.abort() }
      void (async () => {
        for await (const chunk of response.body ?? []) stream.text += Buffer.from(chunk).toString()
      })().catch(() => undefined)
      return stream
    }
    for (const tokens of [
      [tenant.token, developer],
      [developer, tenant.token],
    ] as const) {
      const streams = new Map([
        [tokens[0], await follow(tokens[0])],
        [tokens[1], await follow(tokens[1])],
      ])
      const write = (botId: string, message: string) =>
        server()
          .client({ ...tenant, botId })
          .writeBotLogs({ logs: [{ level: 'info', message }] })
      await write(tenant.botId, 'of the hidden bot')
      await write(open.id, 'of the open bot')
      await vi.waitFor(() => {
        server().clock.advance(1000)
        for (const { text } of streams.values()) expect(text).toContain('of the open bot')
        expect(streams.get(tenant.token)?.text).toContain('of the hidden bot')
      })
      expect(streams.get(developer)?.text).not.toContain('of the hidden bot')
      for (const { close } of streams.values()) close()
    }
  })

  it('is named in no refusal, and its replays are those of others', async () => {
    const { tenant, owner, developer } = await newTeam()
    const other = server().client({ ...tenant, token: developer })
    const messageOf = (client: typeof owner) =>
      client.deleteIntegration({ id: tenant.integrationId }).catch(({ message }) => message)
    expect(await messageOf(owner)).toContain(tenant.botId)
    expect(await messageOf(other)).not.toContain(tenant.botId)
    const installedByBotId = tenant.botId
    expect((await owner.listIntegrations({ installedByBotId })).integrations).toHaveLength(1)
    expect((await other.listIntegrations({ installedByBotId })).integrations).toEqual([])
    expect((await owner.listPublicIntegrations({ installedByBotId })).integrations).toHaveLength(1)
    expect((await other.listPublicIntegrations({ installedByBotId })).integrations).toEqual([])

    const { replays } = await owner.listDeliveryReplays()
    expect(replays).toHaveLength(1)
    expect((await other.listDeliveryReplays()).replays).toEqual([])
    const [replay] = replays
    await expect(other.cancelDeliveryReplay({ replayId: replay?.id ?? '' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    const group = (await owner.getOverview()).errors.groups.find(
      ({ botId }) => botId === tenant.botId,
    )
    const errorId = group?.id ?? ''
    await owner.resolveErrors({ errorId })
    await expect(other.reopenErrors({ errorId })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await owner.reopenErrors({ errorId })
  })

  it('gives a token for it no authority of an integration of the workspace', async () => {
    const { tenant, owner } = await newTeam()
    const { workspaceId, botId, integrationId } = tenant
    const { pat } = await owner.createPersonalAccessToken({ note: 'one', workspaceId, botId })
    const headers = { 'x-integration-id': integrationId, 'x-integration-alias': 'mail' }
    const as = (token: string) => server().client({ token, botId, headers })
    expect((await as(tenant.token).listConversations()).conversations).toBeDefined()
    await expect(as(pat.value).listConversations()).rejects.toMatchObject({
      type: 'Forbidden',
      message: /may not act as it/,
    })
  })
})
