import { allOperations, type Operation } from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { createOperatorAccounts } from '../../src/features/tenancy/sign-in/index.js'
import { totpCode } from '../../src/features/tenancy/sign-in/totp.js'
import { describeEachEngine } from '../engines.js'
import { credentialsOf, exampleOf } from '../examples.js'
import { useServer } from '../harness.js'
import { send } from '../request.js'
import { addAccount, settle, type Tenant } from '../tenant.js'
import { inDatabase } from './seed.js'

const recorded = allOperations.filter(({ audit }) => audit === 'workspace' || audit === 'account')

/** Calls that the example of an operation cannot make in a tenant; each has a test of its own, named here. */
const testedElsewhere: Readonly<Record<string, string>> = {
  acceptInvitation: 'below',
  cancelDeliveryReplay: 'features/deliveries/replays',
  confirmSecondFactor: 'below',
  createBotVersion: 'features/bots/versions',
  deleteAccount: 'below',
  deleteBotIssue: 'features/bots/issues',
  deleteBotVersion: 'features/bots/versions',
  deletePasskey: 'features/tenancy/sign-in',
  deployBotVersion: 'features/bots/versions',
  disconnectSingleSignOn: 'features/tenancy/sign-in',
  finishPasskey: 'features/tenancy/sign-in',
  finishSingleSignOn: 'features/tenancy/sign-in',
  removeSecondFactor: 'below',
  renewRecoveryCodes: 'below',
  reopenErrors: 'features/workspace/overview',
  replayDelivery: 'features/deliveries',
  resetPassword: 'below',
  resolveErrors: 'features/workspace/overview',
  sendTestEvent: 'below',
  signInWithPasskey: 'features/tenancy/sign-in',
  signInWithPassword: 'below',
  signInWithSecondFactor: 'below',
  signUpWithInvitation: 'below',
  startSecondFactor: 'below',
  transferBot: 'features/bots/bots',
  updatePasskey: 'features/tenancy/sign-in',
}

/** Removals last, and the workspace after all that is in it. A session is removed before a new password ends it. */
function rank({ id, method }: Operation): number {
  if (id === 'deleteWorkspace') return 4
  if (id === 'deleteSession') return 0
  if (['deleteBot', 'deleteIntegration', 'deleteOtherSessions'].includes(id)) return 3
  return method === 'DELETE' ? 2 : 1
}

describeEachEngine('the audit log', (engine) => {
  const server = useServer(engine)
  let tenant: Tenant
  /** All records so far, by their text. */
  const seen = new Map<string, unknown>()

  beforeAll(async () => {
    tenant = await settle(server(), await addAccount(server()))
  })

  async function newest() {
    const { records } = await server()
      .client(tenant)
      .getAuditRecords({ id: tenant.workspaceId, pageSize: 100 })
    for (const record of records) seen.set(record.id, record)
    return records
  }

  it('has every administrative act, and no secret', async () => {
    const refused: string[] = []
    const missing: string[] = []
    const secrets = new Set([tenant.token, tenant.botKey, tenant.userKey, tenant.personalToken])
    const hidden = 'distinctive-hidden-value'
    const own = server().client(tenant)
    await own.updateBot({ id: tenant.botId, configuration: { data: { password: hidden } } })
    for (const operation of recorded.toSorted((a, b) => rank(a) - rank(b))) {
      if (operation.id === 'deleteWorkspace') continue
      const before = (await newest())[0]?.sequence ?? 0
      const { request, headers } = exampleOf(operation)
      const origin: Record<string, string> =
        operation.session === undefined ? {} : { origin: server().url }
      const response = await send(server(), operation, {
        ...request(tenant),
        headers: { ...credentialsOf(operation.auth, tenant), ...headers, ...origin },
      })
      const text = await response.text()
      // An export has records, and makes no secret.
      const made = operation.method === 'GET' ? '' : text
      for (const [, secret] of made.matchAll(
        /"(?:value|secret|newSigningSecret|signingSecret)":"([^"]+)"/g,
      )) {
        if (secret !== undefined) secrets.add(secret)
      }
      if (!response.ok) {
        refused.push(operation.id)
        continue
      }
      const [record] = await newest()
      const isNew = record !== undefined && record.sequence > before
      // A workspace that is made has its own log.
      if (operation.id === 'createWorkspace') continue
      if (!isNew || record.operation !== operation.id) missing.push(operation.id)
    }
    expect(missing, 'operations that succeeded without a record').toEqual([])
    expect(refused.toSorted()).toEqual(Object.keys(testedElsewhere).toSorted())
    const texts = JSON.stringify([...seen.values()])
    expect([...secrets].filter((secret) => texts.includes(secret))).toEqual([])
    expect(texts).not.toContain(hidden)
    expect(texts).not.toContain('seven green teapots')
  })

  it('says of each call who made it, from where, and by which proof', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    const { pat } = await owner.createPersonalAccessToken({ note: 'the laptop' })
    const { bot } = await server()
      .client({ token: pat.value, workspaceId: login.workspaceId })
      .createBot({ name: 'First' })
    await owner.updateBot({ id: bot.id, name: 'Second' })
    const { account } = await owner.getAccount()
    const { records } = await owner.getAuditRecords({ id: login.workspaceId })
    expect(records.slice(0, 2)).toMatchObject([
      {
        operation: 'updateBot',
        action: 'UPDATE_BOT',
        userId: account.id,
        userEmail: account.email,
        address: '127.0.0.1',
        resourceId: bot.id,
        resourceName: 'First',
        value: '{"name":{"from":"First","to":"Second"}}',
      },
      {
        operation: 'createBot',
        action: 'CREATE_BOT',
        authority: 'token',
        tokenId: pat.id,
        tokenNote: 'the laptop',
      },
    ])
    expect(records.map(({ sequence }) => sequence)).toEqual(
      records.map((_, index) => records.length - index),
    )
  })

  it('has sign-ins and changes of accounts, in each workspace of the account', async () => {
    const login = await addAccount(server())
    const ann = server().client(login)
    const page = () => server().client({ token: undefined, headers: { origin: server().url } })
    const codeOf = (url: string) => new URL(url).hash.slice(1)
    const invite = async (email: string) =>
      codeOf((await ann.createWorkspaceMember({ email, role: 'viewer' })).invitationUrl)
    const email = `bea-${login.workspaceId}@example.com`
    const password = 'seven green teapots'
    await page().signUpWithInvitation({ code: await invite(email), displayName: 'Bea', password })
    await page().signInWithPassword({ email, password })
    const reset = await inDatabase(server(), (tenants) =>
      createOperatorAccounts({
        ...tenants,
        clock: server().clock,
        passwords: tenants.slices.passwords.service,
      }).reset(email),
    )
    const fresh = 'eight green teapots'
    await page().resetPassword({ code: reset, password: fresh })

    const guest = server().client(await addAccount(server()))
    await guest.acceptInvitation({ code: await invite('other@example.com') })
    await guest.changePassword({ password })
    const { secret } = await guest.startSecondFactor({ currentPassword: password })
    const codeNow = () => {
      server().clock.advance(60_000)
      return totpCode(secret, server().clock.now())
    }
    const { recoveryCodes } = await guest.confirmSecondFactor({ code: codeNow() })
    const { account } = await guest.getAccount()
    const { secondFactor } = await page().signInWithPassword({ email: account.email, password })
    const ticket = secondFactor?.ticket ?? ''
    await page().signInWithSecondFactor({ ticket, code: recoveryCodes[0] ?? '' })
    const both = () => ({ currentPassword: password, code: codeNow() })
    await guest.renewRecoveryCodes(both())
    await guest.removeSecondFactor(both())

    const { records } = await ann.getAuditRecords({ id: login.workspaceId, pageSize: 100 })
    expect(records.map(({ operation }) => operation).toReversed()).toEqual([
      'createWorkspaceMember',
      'signUpWithInvitation',
      'signInWithPassword',
      'operator.resetPassword',
      'resetPassword',
      'createWorkspaceMember',
      'acceptInvitation',
      'changePassword',
      'startSecondFactor',
      'confirmSecondFactor',
      'signInWithSecondFactor',
      'renewRecoveryCodes',
      'removeSecondFactor',
    ])
    const signUp = records.find(({ operation }) => operation === 'signUpWithInvitation')
    expect(signUp).toMatchObject({ resourceName: email, value: expect.stringContaining('viewer') })
    const texts = JSON.stringify(records)
    const secrets = [password, fresh, secret, reset, ticket, ...recoveryCodes]
    expect(secrets.filter((each) => texts.includes(each))).toEqual([])
    expect(records[0]).toMatchObject({ userEmail: account.email, address: '127.0.0.1' })

    const [own] = (await guest.listWorkspaces({})).workspaces.filter(
      ({ ownerId }) => ownerId === account.id,
    )
    await guest.deleteWorkspace({ id: own?.id ?? '' })
    await guest.deleteAccount({ currentPassword: password })
    const [last] = (await ann.getAuditRecords({ id: login.workspaceId })).records
    expect(last).toMatchObject({ operation: 'deleteAccount', userId: account.id, userEmail: null })
  })

  it('has a test event, and what it was sent to', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    const { bot } = await owner.createBot({ name: 'First', url: 'http://127.0.0.1:9' })
    await owner.sendTestEvent({ id: bot.id }).catch(() => undefined)
    const { records } = await owner.getAuditRecords({ id: login.workspaceId })
    expect(records[0]).toMatchObject({ operation: 'sendTestEvent', resourceId: bot.id })
  })

  it('has what people read, once in ten minutes, and not what programs read', async () => {
    const login = await addAccount(server())
    const other = await settle(server(), login)
    const owner = server().client(login)
    const inBot = server().client({ ...login, botId: other.botId })
    const program = server().client({ token: other.botKey, botId: other.botId })
    const readings = async () =>
      (await owner.getAuditRecords({ id: login.workspaceId, pageSize: 100 })).records
        .filter(({ operation }) => /^(get|list|search)/.test(operation))
        .map(({ operation, resourceId }) => [operation, resourceId])
    await program.getConversation({ id: other.conversationId })
    await program.listMessages({ conversationId: other.conversationId })
    expect(await readings()).toEqual([])
    const { conversationId } = other
    await inBot.listMessages({ conversationId })
    await owner.getConversationTimeline({ id: conversationId })
    await inBot.getFile({ id: other.fileId })
    expect(await readings()).toEqual([
      ['getFile', other.fileId],
      ['listMessages', conversationId],
    ])
    server().clock.advance(10 * 60 * 1000)
    await inBot.listMessages({ conversationId })
    expect(await readings()).toHaveLength(3)
  })

  it('is exported as lines of JSON, and as CSV that a spreadsheet does not calculate', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    await owner.createBot({ name: '=1+1' })
    await owner.createBot({ name: 'a "b", c' })
    await owner.createBot({ name: 'd\n=2+2' })
    const read = async (format: string) => {
      const response = await server().fetch(
        `/v1/admin/workspaces/${login.workspaceId}/audit-records/export?format=${format}`,
        { headers: credentialsOf('workspace', { ...tenant, ...login }) },
      )
      return [response.headers.get('content-type'), await response.text()] as const
    }
    const [type, csv] = await read('csv')
    expect(type).toBe('text/csv; charset=utf-8')
    expect(csv).toMatch(/^sequence,recordedAt,action,operation,/)
    expect(csv).toContain(`,'=1+1,`)
    expect(csv).toContain(',"a ""b"", c",')
    // One that separates columns by semicolons ends the row here.
    expect(csv).toContain(`,"d\n'=2+2",`)
    const [, lines] = await read('jsonl')
    const records = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.map(({ operation }) => operation)).toEqual([
      'createBot',
      'createBot',
      'createBot',
      'exportAuditRecords',
      'exportAuditRecords',
    ])
    const listed = await owner.getAuditRecords({ id: login.workspaceId })
    expect(records.toReversed()).toEqual(listed.records)
  })

  it('outlives its workspace', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    await owner.createBot({ name: 'First' })
    await owner.deleteWorkspace({ id: login.workspaceId })
    const operations = await inDatabase(server(), async ({ db }) =>
      (
        await db
          .selectFrom('audit_records')
          .select('operation')
          .where('workspace_id', '=', login.workspaceId)
          .orderBy('sequence')
          .execute()
      ).map(({ operation }) => operation),
    )
    expect(operations).toEqual(['createBot', 'deleteWorkspace'])
  })

  it('can be narrowed and paged', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    for (const name of ['a', 'b', 'c']) await owner.createBot({ name })
    await owner.updateWorkspace({ id: login.workspaceId, name: 'Renamed' })
    const of = { id: login.workspaceId, operation: 'createBot' }
    const first = await owner.getAuditRecords({ ...of, pageSize: 2 })
    const { nextToken } = first.meta
    const rest = await owner.getAuditRecords({ ...of, nextToken: nextToken ?? '', pageSize: 2 })
    expect([...first.records, ...rest.records].map(({ resourceName }) => resourceName)).toEqual([
      'c',
      'b',
      'a',
    ])
    const { records } = await owner.getAuditRecords({ ...of, userId: 'accnt_none' })
    expect(records).toEqual([])
  })

  it('keeps nothing of what failed', async () => {
    const login = await addAccount(server())
    const owner = server().client(login)
    await expect(owner.updateBot({ id: 'none', name: 'x' })).rejects.toThrow()
    const invited = { email: 'twice@example.com', role: 'viewer' } as const
    await owner.createWorkspaceMember(invited)
    await expect(owner.createWorkspaceMember(invited)).rejects.toThrow()
    const { records } = await owner.getAuditRecords({ id: login.workspaceId })
    expect(records.map(({ operation }) => operation)).toEqual(['createWorkspaceMember'])
  })
})

it('is decided for each operation without an actor that changes something', () => {
  const silent = allOperations.filter(
    ({ auth, method, audit }) =>
      auth === 'public' && method !== 'GET' && method !== 'HEAD' && audit === undefined,
  )
  // These look something up, by a code that appears in no log of addresses.
  expect(silent.map(({ id }) => id).toSorted()).toEqual(['getInvitation', 'getPasswordReset'])
})
