import { createRuntimeSlices } from '../src/app/runtime-slices.js'
import type { AccountActor, WorkspaceActor } from '../src/domain/actor.js'
import { createAddresses } from '../src/domain/addresses.js'
import { createBots } from '../src/features/bots/bots/index.js'
import { createIntegrations } from '../src/features/bots/integrations/index.js'
import { createMakers } from '../src/features/calls/makers/index.js'
import { createTargets } from '../src/features/calls/targets/index.js'
import {
  createOutbox,
  createSubjectRetention,
  requestedEvents,
} from '../src/features/deliveries/index.js'
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
  const addresses = createAddresses(() => 'http://localhost')

  const accounts = createAccounts(shared)
  const domainEvents = createEventDispatcher()
  const outgoing = createOutgoing({
    rules: createAddressRules({ allowLoopback: true, allowed: [] }),
  })
  const slice = { ...shared, bus, queue, events, addresses, domainEvents, outgoing }
  const workspaces = createWorkspaces(slice)
  const integrations = createIntegrations({ ...slice, workspaces: workspaces.service })
  const bots = createBots({ ...slice, integrations })
  workspaces.service.provideBotCounts(bots.service.countByWorkspace)
  const access = createAccess({ ...slice, workspaces, bots, integrations })
  const outbox = createOutbox({ clock, ids, bus })
  domainEvents.subscribe({ 'delivery.requested': outbox.enqueue })
  const runtime = createRuntimeSlices({
    ...slice,
    bots,
    maxPayloadBytes,
    missedEventsMs,
    makers: createMakers({ ...slice, integrations }),
  })
  runtime.events.service.provideRequestedEvents(requestedEvents)
  const targets = createTargets({
    clock,
    bots: bots.service,
    findInstallationTarget: async () => undefined,
  })
  for (const { on } of [bots, access, integrations, targets]) if (on) domainEvents.subscribe(on)
  const tokens = createOperatorTokens({ ...shared, accounts: accounts.service })

  return {
    ...shared,
    bus,
    queue,
    events,
    domainEvents,
    targets,
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
