import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Role } from '@botstead/contract'
import { createContext } from '../src/app/context.js'
import { createFeatures } from '../src/app/features.js'
import { loadConfig } from '../src/config/config.js'
import type { AccountActor, WorkspaceActor } from '../src/domain/actor.js'
import { createAddresses } from '../src/domain/addresses.js'
import { openDiskBlobStore } from '../src/platform/blobs/disk.js'
import type { EventBus } from '../src/platform/bus/event-bus.js'
import { createLocalBus } from '../src/platform/bus/local.js'
import { isoTime, systemTimers, type Timers } from '../src/platform/clock.js'
import { encodeBoolean } from '../src/platform/db/columns.js'
import type { Database } from '../src/platform/db/open.js'
import { createLog } from '../src/platform/telemetry/log.js'
import { ownerOf, person } from './actors.js'
import { createTestClock, type TestClock } from './harness.js'

/** Maximum bytes of a payload. */
export const maxPayloadBytes = 2000

/** A person with a token and a workspace of their own. */
export interface Person {
  account: AccountActor
  workspace: WorkspaceActor
  token: string
}

interface Options {
  clock?: TestClock
  timers?: Timers
  /** Shared by processes that hear each other's hints; default one of its own. */
  bus?: EventBus
  /** Settings that differ from those below. */
  environment?: Record<string, string>
}

/**
 * The slices of the product without its HTTP layer and its worker, on one process's view of a database:
 * two of them on the same database are two processes.
 */
export async function createSlices(
  database: Database,
  { clock = createTestClock(), timers = systemTimers, bus, environment }: Options = {},
) {
  const log = await createLog({ level: 'silent' })
  const folder = await mkdtemp(join(tmpdir(), 'botstead-slices-'))
  const { config } = loadConfig({
    BOTSTEAD_DATA_DIR: folder,
    BOTSTEAD_MAX_MESSAGE_BYTES: `${maxPayloadBytes}B`,
    BOTSTEAD_MAX_LISTENERS: '1000',
    BOTSTEAD_MAX_LISTENER_BUFFER_BYTES: '64KiB',
    ...environment,
  })
  const context = createContext({
    config,
    log,
    clock,
    timers,
    keys: {
      sealing: Buffer.alloc(32, 1),
      pageTokens: Buffer.alloc(32, 2),
      fileAddresses: Buffer.alloc(32, 3),
      codeAddresses: Buffer.alloc(32, 6),
      installation: '04'.repeat(32),
      instance: '0123456789abcdef',
      chatSecrets: Buffer.alloc(32, 7),
      userKeys: Buffer.from('the secret of all addresses'),
    },
    database,
    bus: bus ?? createLocalBus(log),
  })
  const { run, ids } = context
  const slices = createFeatures(context, {
    blobs: await openDiskBlobStore(join(folder, 'blobs')),
    addresses: createAddresses(() => 'http://localhost'),
  })
  const { access, accounts, members, workspaces, bots } = slices

  return {
    ...context,
    clock,
    slices,
    accounts: accounts.service,
    members: members.service,
    workspaces: workspaces.service,
    bots: bots.service,
    botProfiles: bots.botProfiles,
    access,
    tokens: slices.operatorTokens,

    /** A new account with a token and a workspace. */
    async person(): Promise<Person> {
      const accountId = ids.next('accnt')
      const now = isoTime(clock.now())
      await run(async (tx) => {
        await tx
          .insertInto('accounts')
          .values({
            id: accountId,
            email: `${accountId}@example.com`.toLowerCase(),
            email_verified: encodeBoolean(false),
            created_at: now,
            updated_at: now,
          })
          .execute()
      })
      const account = person(accountId)
      const made = await access.service.createPersonal(account, { note: 'first' }, undefined)
      const { workspace } = await workspaces.service.create(account, { name: 'Own' }, undefined)
      return {
        account: { ...account, tokenId: made.token.id },
        workspace: ownerOf(workspace.id, accountId, made.token.id),
        token: made.value,
      }
    },

    /** Makes a person a member of a workspace. */
    async join(
      member: Person,
      host: { workspace: Pick<WorkspaceActor, 'workspaceId'> },
      role: Role,
    ): Promise<void> {
      await run(async (tx) => {
        await tx
          .insertInto('workspace_members')
          .values({
            id: ids.next('member'),
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

export type Slices = Awaited<ReturnType<typeof createSlices>>
