import { type Role, type WorkspacePermission, workspacePermissions } from '@botstead/contract'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { createTestClock } from '../../../../test/harness.js'
import { createSlices, type Slices } from '../../../../test/slices.js'
import type { ScopeHeaders } from '../../../domain/authenticator.js'
import { callerOf } from './authenticator.js'

const noScope: ScopeHeaders = {
  integrationId: undefined,
  integrationAlias: undefined,
  integrationName: undefined,
  userId: undefined,
  userRole: undefined,
}

describeEachEngine('authentication', (engine) => {
  const database = useDatabase(engine)
  const clock = createTestClock()
  let here: Slices
  let elsewhere: Slices

  beforeAll(async () => {
    here = await createSlices(database(), { clock })
    elsewhere = await createSlices(database(), { clock })
  })

  const authenticator = () => here.access.authenticator
  const newBot = async (of: Awaited<ReturnType<Slices['person']>>, tenants = here) => {
    const { bot } = await tenants.bots.create(of.workspace, {}, undefined)
    const key = await tenants.access.service.createBotKey(
      of.workspace,
      { botId: bot.id },
      undefined,
    )
    return { id: bot.id, keyId: key.token.id, key: key.value }
  }

  /** The error that refuses a call; undefined if it is accepted. */
  async function refusal(ask: () => unknown): Promise<unknown> {
    try {
      await ask()
      return undefined
    } catch (error) {
      return error
    }
  }
  const refused = (ask: () => unknown, type: string) =>
    expect(refusal(ask)).resolves.toMatchObject({ type })

  it('identifies the holder of a personal token, in their workspace and in their bot', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    const { workspaceId } = ann.workspace
    const authority = { kind: 'token', note: expect.any(String) }
    expect(await authenticator().account(ann.token, 'account:read')).toEqual({
      ...ann.account,
      authority,
    })
    expect(await authenticator().workspace(ann.token, workspaceId, 'bots:write')).toEqual({
      ...ann.workspace,
      authority,
      permission: 'bots:write',
    })
    expect(await authenticator().bot(ann.token, bot.id, noScope, 'bots:write')).toEqual({
      kind: 'bot',
      workspaceId,
      botId: bot.id,
      tokenId: ann.account.tokenId,
      caller: { type: 'bot' },
      person: { ...ann.account, authority },
    })
  })

  it('returns cached callers synchronously', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    const ask = [
      () => authenticator().account(ann.token, 'account:read'),
      () => authenticator().workspace(ann.token, ann.workspace.workspaceId, 'bots:write'),
      () => authenticator().bot(ann.token, bot.id, noScope, 'bots:write'),
      () => authenticator().bot(bot.key, bot.id, noScope, 'bots:write'),
    ]
    await clock.hold(async () => {
      for (const once of ask) expect(await once()).toEqual(once())
      for (const once of ask) expect(once()).not.toBeInstanceOf(Promise)
    })
  })

  it('lets a bot key into its own bot only', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    const sibling = await newBot(ann)
    expect(await authenticator().bot(bot.key, bot.id, noScope, 'bots:write')).toMatchObject({
      workspaceId: ann.workspace.workspaceId,
      botId: bot.id,
      tokenId: bot.keyId,
    })
    await refused(
      () => authenticator().bot(bot.key, sibling.id, noScope, 'bots:read'),
      'Unauthorized',
    )
    await refused(() => authenticator().account(bot.key, 'account:read'), 'Forbidden')
    await refused(
      () => authenticator().workspace(bot.key, ann.workspace.workspaceId, 'bots:read'),
      'Forbidden',
    )
  })

  it('refuses unknown and foreign ids with the same message', async () => {
    const ann = await here.person()
    const bob = await here.person()
    const bobsBot = await newBot(bob)
    const workspaceErrors = await Promise.all(
      [bob.workspace.workspaceId, here.ids.uuid(), 'two words'].map((id) =>
        refusal(() => authenticator().workspace(ann.token, id, 'bots:read')),
      ),
    )
    const botErrors = await Promise.all(
      [bobsBot.id, here.ids.uuid(), bob.workspace.workspaceId].map((id) =>
        refusal(() => authenticator().bot(ann.token, id, noScope, 'bots:read')),
      ),
    )
    for (const [errors, header] of [
      [workspaceErrors, 'x-workspace-id'],
      [botErrors, 'x-bot-id'],
    ] as const) {
      expect(errors[0]).toMatchObject({
        type: 'Unauthorized',
        message: expect.stringContaining(header),
        metadata: { in: 'headers', field: header },
      })
      expect(errors).toEqual([errors[0], errors[0], errors[0]])
    }
  })

  it('refuses values that were never a token', async () => {
    for (const token of ['', 'x', 'bp_pat_'.padEnd(50, 'a'), 'a'.repeat(100_000), '❤'.repeat(9)]) {
      await refused(() => authenticator().account(token, 'account:read'), 'Unauthorized')
      await refused(() => authenticator().account(token, 'account:read'), 'Unauthorized')
    }
  })

  it('gives members the permissions of their role', async () => {
    const owner = await here.person()
    const bot = await newBot(owner)
    const { workspaceId } = owner.workspace
    for (const role of ['viewer', 'billing', 'developer', 'manager', 'administrator'] as const) {
      const member = await here.person()
      await here.join(member, owner, role)
      for (const [permission, { roles }] of Object.entries(workspacePermissions)) {
        const name = permission as WorkspacePermission
        const asks = [
          () => authenticator().workspace(member.token, workspaceId, name),
          () => authenticator().bot(member.token, bot.id, noScope, name),
        ]
        for (const ask of asks) {
          if ((roles as readonly Role[]).includes(role)) expect(await refusal(ask)).toBeUndefined()
          else await refused(ask, 'Forbidden')
        }
      }
    }
  })

  it('refuses a token as soon as it is deleted here', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    await authenticator().account(ann.token, 'account:read')
    await authenticator().bot(bot.key, bot.id, noScope, 'bots:read')
    await here.access.service.removeBotKey(ann.workspace, bot.keyId)
    await refused(() => authenticator().bot(bot.key, bot.id, noScope, 'bots:read'), 'Unauthorized')
    await here.access.service.removePersonal(ann.account, ann.account.tokenId)
    await refused(() => authenticator().account(ann.token, 'account:read'), 'Unauthorized')
    await refused(
      () => authenticator().bot(ann.token, bot.id, noScope, 'bots:read'),
      'Unauthorized',
    )
  })

  it('refuses a bot and its keys as soon as it is deleted here', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    const asks = [ann.token, bot.key].map(
      (token) => () => authenticator().bot(token, bot.id, noScope, 'bots:read'),
    )
    for (const ask of asks) expect(await refusal(ask)).toBeUndefined()
    await here.bots.remove(ann.workspace, bot.id)
    for (const ask of asks) await refused(ask, 'Unauthorized')
  })

  it('refuses a workspace and all in it as soon as it is deleted here', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    const { workspaceId } = ann.workspace
    const asks = [
      () => authenticator().workspace(ann.token, workspaceId, 'bots:read'),
      () => authenticator().bot(ann.token, bot.id, noScope, 'bots:read'),
      () => authenticator().bot(bot.key, bot.id, noScope, 'bots:read'),
    ]
    for (const ask of asks) expect(await refusal(ask)).toBeUndefined()
    await here.workspaces.remove(ann.workspace, workspaceId)
    for (const ask of asks) await refused(ask, 'Unauthorized')
    expect(await refusal(() => authenticator().account(ann.token, 'account:read'))).toBeUndefined()
  })

  it('refuses what another process deleted within five seconds', async () => {
    const ann = await here.person()
    const kept = await newBot(ann)
    const gone = await newBot(ann)
    const host = await here.person()
    await here.join(ann, host, 'developer')
    const asks = [
      () => authenticator().bot(kept.key, kept.id, noScope, 'bots:read'),
      () => authenticator().bot(ann.token, gone.id, noScope, 'bots:read'),
      () => authenticator().workspace(ann.token, host.workspace.workspaceId, 'bots:read'),
    ]
    for (const ask of asks) expect(await refusal(ask)).toBeUndefined()
    await elsewhere.tokens.revoke(kept.keyId)
    await elsewhere.bots.remove(ann.workspace, gone.id)
    await elsewhere.workspaces.remove(host.workspace, host.workspace.workspaceId)
    clock.advance(5000)
    for (const ask of asks) await refused(ask, 'Unauthorized')
  })

  it('accepts at once what another process created', async () => {
    const ann = await here.person()
    await authenticator().account(ann.token, 'account:read')
    const bot = await newBot(ann, elsewhere)
    const made = await elsewhere.workspaces.create(ann.account, { name: 'New' }, undefined)
    expect(await authenticator().bot(bot.key, bot.id, noScope, 'bots:write')).toMatchObject({
      botId: bot.id,
    })
    expect(
      await authenticator().workspace(ann.token, made.workspace.id, 'bots:write'),
    ).toMatchObject({
      workspaceId: made.workspace.id,
    })
  })

  it('names the installed integration that a call is made for, with authority for what is part of the server', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    const [chat] = await here.bots.installationsOf(bot.id)
    const scope = { ...noScope, integrationId: chat?.integration_id }
    expect(await authenticator().bot(ann.token, bot.id, scope, 'bots:read')).toMatchObject({
      caller: { type: 'integration', id: chat?.integration_id, authority: 'developer' },
    })
  })

  it('refuses calls on behalf of an integration that is not installed', async () => {
    const ann = await here.person()
    const bot = await newBot(ann)
    for (const token of [ann.token, bot.key]) {
      for (const scope of [
        { integrationId: 'none' },
        { integrationId: 'chat', integrationAlias: 'none' },
      ]) {
        const call = async () =>
          await authenticator().bot(token, bot.id, { ...noScope, ...scope }, 'bots:read')
        await expect(call()).rejects.toMatchObject({ type: 'Forbidden' })
      }
    }
  })

  it('stores the time of last use in the background', async () => {
    const waiting: (() => void)[] = []
    const timers = {
      after: (_: number, callback: () => void) => {
        waiting.push(callback)
        return () => undefined
      },
    }
    const other = await createSlices(database(), { timers, clock })
    const ann = await other.person()
    const lastUse = async () => {
      const [token] = await other.access.service.listPersonal(ann.account)
      return token?.last_used_at ?? null
    }
    await other.access.authenticator.account(ann.token, 'account:read')
    expect(await lastUse()).toBeNull()
    for (const callback of waiting) callback()
    await vi.waitFor(async () => expect(await lastUse()).not.toBeNull())
    const first = await lastUse()

    // Nothing is written within a minute of the stored time.
    clock.advance(30_000)
    waiting.length = 0
    await other.access.authenticator.account(ann.token, 'account:read')
    expect(waiting).toEqual([])

    clock.advance(31_000)
    await other.access.authenticator.account(ann.token, 'account:read')
    await other.access.stop?.(0)
    expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThanOrEqual(
      Date.parse(first ?? '') + 60_000,
    )
  })
})

describe('the caller inside a bot', () => {
  const installed = [
    { id: 'int-1', alias: 'first', name: 'slack' },
    { id: 'int-1', alias: 'second', name: 'slack' },
  ]
  const caller = (headers: Partial<ScopeHeaders>) => callerOf({ ...noScope, ...headers }, installed)
  const first = {
    type: 'integration',
    id: 'int-1',
    alias: 'first',
    name: 'slack',
    authority: 'none',
  }

  it.each([
    [{ integrationId: 'int-1' }, first],
    [{ integrationAlias: 'first' }, first],
    [
      { integrationId: 'int-1', integrationAlias: 'second' },
      { ...first, alias: 'second' },
    ],
    [{ integrationId: 'int-1', integrationName: 'other' }, first],
  ])('is the integration that the headers name, as it is installed (%o)', (headers, expected) => {
    expect(caller(headers)).toEqual(expected)
  })

  it.each([
    { integrationId: 'int-2' },
    { integrationId: 'int-2', integrationAlias: 'first' },
    { integrationId: 'int-1', integrationAlias: 'other' },
    { integrationId: 'int-2', integrationName: 'slack', userId: 'user_1' },
  ])('is undefined where the headers name an integration that is not installed (%o)', (headers) => {
    expect(caller(headers)).toBeUndefined()
  })

  it('is a user where no integration is named, otherwise the bot', () => {
    const user = { ...noScope, userId: 'user_1', userRole: 'admin' }
    expect(callerOf(user, [])).toEqual({ type: 'user', id: 'user_1', role: 'admin' })
    expect(callerOf({ ...user, integrationId: 'int-1' }, installed)).toMatchObject({
      type: 'integration',
    })
    expect(callerOf({ ...noScope, userRole: 'admin' }, [])).toEqual({ type: 'bot' })
    expect(caller({ integrationAlias: 'other' })).toEqual({ type: 'bot' })
  })
})
