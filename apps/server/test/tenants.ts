import { createRuntimeSlices } from '../src/app/runtime-slices.js'
import type { AccountActor, WorkspaceActor } from '../src/domain/actor.js'
import { createAddresses } from '../src/domain/addresses.js'
import { createBots } from '../src/features/bots/bots/index.js'
import { createIntegrations, type Integrations } from '../src/features/bots/integrations/index.js'
import { createOutbox, createSubjectRetention } from '../src/features/deliveries/index.js'
import { createAccess, createOperatorTokens } from '../src/features/tenancy/access/index.js'
import { createAccounts } from '../src/features/tenancy/accounts/index.js'
import { createWorkspaces, type Role } from '../src/features/tenancy/workspaces/index.js'
import type { EventBus } from '../src/platform/bus/event-bus.js'
import { createLocalBus } from '../src/platform/bus/local.js'
import { isoTime } from '../src/platform/clock.js'
import { followCommits } from '../src/platform/db/after-commit.js'
import { encodeBoolean } from '../src/platform/db/columns.js'
import type { Database } from '../src/platform/db/open.js'
import { createPager } from '../src/platform/db/pager.js'
import type { Tx } from '../src/platform/db/schema.js'
import { createEventDispatcher } from '../src/platform/domain-events.js'
import { createEventPublisher } from '../src/platform/events/publisher.js'
import { createIds } from '../src/platform/ids.js'
import { createQueue } from '../src/platform/jobs/queue.js'
import { createAddressRules } from '../src/platform/outgoing/address-rules.js'
import { createOutgoing } from '../src/platform/outgoing/outgoing.js'
import { createSealer } from '../src/platform/security/sealing.js'
import { createLog } from '../src/platform/telemetry/log.js'
import { systemTimers, type Timers } from '../src/platform/timers.js'
import { createTestClock, type TestClock } from './harness.js'

/** Most bytes of a payload. */
export const maxPayloadBytes = 2000

/** Somebody with a token and a workspace of their own. */
export interface Person {
  account: AccountActor
  workspace: WorkspaceActor
  token: string
}

/**
 * The slices that say who may do what, joined as in the product, on one process's view of a
 * database: two of them on the same database are two processes.
 */
export async function createTenants(
  database: Database,
  {
    clock = createTestClock(),
    timers = systemTimers,
    bus: given,
    missedEventsMs = 3_600_000,
  }: Options = {},
) {
  const { db, dialect } = database
  const run = followCommits(database.run)
  const log = await createLog({ level: 'silent' })
  const ids = createIds(clock)
  const sealer = createSealer(Buffer.alloc(32, 1))
  const pager = createPager(Buffer.alloc(32, 2))
  const shared = { database, db, run, dialect, clock, ids, sealer, pager, timers, log }
  const bus = given ?? createLocalBus(log)
  const queue = createQueue({ ...shared, bus })
  const events = createEventPublisher(bus)
  const domainEvents = createEventDispatcher()
  const addresses = createAddresses(() => 'http://localhost')

  const accounts = createAccounts(shared)
  const workspaces = createWorkspaces({
    ...shared,
    countBots: (workspaceIds) => bots.service.countByWorkspace(workspaceIds),
    removeBots: async (tx, workspaceId) => {
      await bots.service.removeAll(tx, workspaceId)
      await access.service.removeWorkspaceKeys(tx, workspaceId)
      await integrations.service.removeAll(tx, workspaceId)
    },
    onRemoved: (workspaceId) => access.authenticator.forgetWorkspace(workspaceId),
  })
  const bots = createBots({
    ...shared,
    queue,
    addresses,
    catalogue: {
      find: (...args) => integrations.catalogue.find(...args),
      declarationsOf: (id) => integrations.catalogue.declarationsOf(id),
      onChanged: (...args) => integrations.catalogue.onChanged(...args),
      untilSettled: (botId) => integrations.catalogue.untilSettled(botId),
    },
    onCreated: async (tx, botId) => {
      await runtime.users.service.insertBot(tx, botId)
    },
    onRecurring: (tx, botId, declared) => runtime.recurring.service.declare(tx, botId, declared),
    onAddressed: (tx, botId, wants) => runtime.events.service.tellMissed(tx, botId, wants),
    onDeployed: async () => {},
    recurringHealth: (executor, botId) => runtime.recurring.service.healthOf(executor, botId),
    onChanged: (botId) => access.authenticator.forgetBot(botId),
  })
  const outbox = createOutbox({ clock, ids, bus })
  domainEvents.subscribe({ 'delivery.requested': outbox.enqueue })
  const runtime = createRuntimeSlices({
    ...{ ...shared, bus, queue, events, bots, maxPayloadBytes },
    domainEvents,
    missedEventsMs,
    makers: { make: (...args) => integrations.makers.make(...args) },
  })
  const access = createAccess({
    ...shared,
    workspaces: workspaces.service,
    bots: bots.service,
    requireIntegration: (actor, id, field) => integrations.service.requireIn(actor, id, field),
  })
  const integrations: Integrations = createIntegrations({
    ...shared,
    queue,
    addresses,
    outgoing: createOutgoing({ rules: createAddressRules({ allowLoopback: true, allowed: [] }) }),
    bots: bots.service,
    workspaces: workspaces.service,
    onRemoved: (tx, id) => access.service.removeKeysOfIntegration(tx, id),
    onChanged: (_id, installedIn) => installedIn.forEach(access.authenticator.forgetBot),
  })
  const tokens = createOperatorTokens({ ...shared, accounts: accounts.service })

  return {
    ...shared,
    bus,
    queue,
    events,
    domainEvents,
    runtime,

    /** One round of the retention of events and object changes. */
    async sweepSubjects(tx: Tx): Promise<number> {
      let removed = 0
      const { events, changes } = runtime
      for (const sweep of createSubjectRetention({
        clock,
        retentionMs: 604_800_000,
        events: events.service,
        changes,
      })) {
        removed += await sweep(tx)
      }
      return removed
    },

    accounts: accounts.service,
    workspaces: workspaces.service,
    bots: bots.service,
    audiences: bots.audiences,
    access,
    tokens,

    /** A new account with a token and a workspace. */
    async person(): Promise<Person> {
      const accountId = ids.next('accnt')
      const now = isoTime(clock.now())
      await run(async (tx) => {
        await tx
          .insertInto('accounts')
          .values({
            id: accountId,
            email: `${accountId}@example.com`,
            email_verified: encodeBoolean(false),
            created_at: now,
            updated_at: now,
          })
          .execute()
      })
      const account = { kind: 'account', accountId, tokenId: 'none' } as const
      const made = await access.service.createPersonal(account, { note: 'first' }, undefined)
      const { workspace } = await workspaces.service.create(account, { name: 'Own' }, undefined)
      return {
        account: { ...account, tokenId: made.token.id },
        workspace: {
          kind: 'workspace',
          accountId,
          tokenId: made.token.id,
          workspaceId: workspace.id,
        },
        token: made.value,
      }
    },

    /** Makes somebody a member of a workspace. */
    async join(
      member: Person,
      host: { workspace: Pick<WorkspaceActor, 'workspaceId'> },
      role: Role,
    ): Promise<void> {
      await run(async (tx) => {
        await tx
          .insertInto('workspace_members')
          .values({
            workspace_id: host.workspace.workspaceId,
            account_id: member.account.accountId,
            role,
            created_at: isoTime(clock.now()),
          })
          .execute()
      })
    },
  }
}

interface Options {
  clock?: TestClock
  timers?: Timers
  /** Shared by processes that hear each other's hints; default one of its own. */
  bus?: EventBus
  /** How far back bots are told of what they missed; default an hour. */
  missedEventsMs?: number
}

export type Tenants = Awaited<ReturnType<typeof createTenants>>
