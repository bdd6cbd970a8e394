import {
  ApiError,
  type Body,
  type contract,
  type Output,
  type Query,
  type WorkspacePermission,
} from '@botstead/contract'
import type { AccountActor, WorkspaceActor } from '../../../domain/actor.js'
import { scopeRefusal } from '../../../domain/authenticator.js'
import type { Port, Ports } from '../../../domain/ports.js'
import { noReference, notFound } from '../../../domain/refusals.js'
import { type Rights, requirePermission, rightsOf } from '../../../domain/rights.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import { changesBetween, recordAct } from '../audit/index.js'
import type { MembersService } from '../members/index.js'
import { isHandle, similarHandles } from './handles.js'
import * as store from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /**
     * A workspace is being deleted; subscribers delete what belongs to it in the same transaction.
     */
    'workspace.removed': { workspaceId: string }
  }
}

type NewWorkspace = Body<typeof contract.workspaces.create>
type WorkspacePatch = Body<typeof contract.workspaces.update>
type WorkspaceListQuery = Query<typeof contract.workspaces.list>
type HandleCheck = Output<typeof contract.workspaces.checkHandle>

/** A workspace with its counts. */
export interface WorkspaceRecord {
  workspace: store.WorkspaceRow
  botCount: number
}

export interface WorkspacesDeps {
  ports: Pick<Ports, 'open'>
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  domainEvents: EventDispatcher
  members: Pick<MembersService, 'roleOf' | 'addOwner' | 'ownersOf'>
}

/** Counts the bots of some workspaces; those without bots may be missing. */
export type CountBots = (workspaceIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

/** The parts of the service that its functions use. */
interface WorkspaceParts extends WorkspacesDeps {
  botCounts: Port<CountBots>
}

export type WorkspacesService = ReturnType<typeof createWorkspacesService>

/** Maximum number of workspaces an account may own. */
const maxOwned = 1000
/** Maximum number of handles that are suggested instead of one. */
const maxSuggestions = 3

/**
 * Joins the operations of workspaces. Those with an actor throw `ResourceNotFound` for a workspace in
 * which the actor is not a member.
 */
export function createWorkspacesService(deps: WorkspacesDeps) {
  const { ports } = deps
  const botCounts = ports.open<CountBots>('workspaces: the numbers of their bots')

  return {
    ...bound(
      { ...deps, botCounts },
      {
        list: listWorkspaces,
        get: getWorkspace,
        require: requirePermitted,
        requireTarget,
        create: createWorkspace,
        createFirst: createFirstWorkspace,
        update: updateWorkspace,
        listPublic: listPublicWorkspaces,
        getPublic: getPublicWorkspace,
        checkHandle,
        remove: removeWorkspace,
        removeLeftovers,
        nameOf,
        publishersOf,
        passOn,
      },
    ),
    botCounts,
    handleOf,
  }
}

/** The workspace of a path, which may be another one than that of the header, with another role of the caller. */
async function requireWorkspace(
  deps: WorkspaceParts,
  executor: Db | Tx,
  actor: WorkspaceActor,
  id: string,
  permission: WorkspacePermission,
): Promise<store.WorkspaceRow> {
  const rights =
    id === actor.workspaceId ? actor.rights : await rightsElsewhere(deps, executor, actor, id)
  const workspace = await store.findWorkspace(executor, id)
  if (rights === undefined || workspace === undefined) {
    throw notFound('workspace', id, 'among those of the caller')
  }
  requirePermission(rights, permission)
  return workspace
}

async function rightsElsewhere(
  { members }: WorkspaceParts,
  executor: Db | Tx,
  { accountId, rights: { limits } }: WorkspaceActor,
  id: string,
): Promise<Rights | undefined> {
  if (limits.workspaceId !== undefined) return undefined
  const role = await members.roleOf(accountId, id, executor)
  return role && rightsOf(role, [], limits)
}

async function requirePermitted(
  deps: WorkspaceParts,
  actor: WorkspaceActor,
  id: string,
  permission: WorkspacePermission,
): Promise<store.WorkspaceRow> {
  return await requireWorkspace(deps, deps.db, actor, id, permission)
}

/**
 * The other workspace to which a caller moves something, which is not deleted until the transaction ends.
 * @param field path of the id in the request
 * @throws ApiError `ReferenceNotFound` unless the caller is a member of it, `Forbidden` without the permission there
 */
async function requireTarget(
  deps: WorkspaceParts,
  tx: Tx,
  actor: WorkspaceActor,
  {
    id,
    field,
    permission,
  }: { id: string; field: 'body.targetWorkspaceId'; permission: WorkspacePermission },
): Promise<store.WorkspaceRow> {
  const isKept = await store.keepWorkspace(tx, id)
  const rights = isKept ? await rightsElsewhere(deps, tx, actor, id) : undefined
  const workspace = rights && (await store.findWorkspace(tx, id))
  if (rights === undefined || workspace === undefined) {
    throw noReference(field, 'workspace', id, 'among those of the caller')
  }
  if (!rights.permissions.has(permission)) {
    throw new ApiError(
      'Forbidden',
      `${field}: the role ${rights.role} in that workspace does not include ${permission}, which this operation needs there.`,
      { metadata: { permission, role: rights.role } },
    )
  }
  return workspace
}

async function withCount(
  { botCounts }: WorkspaceParts,
  workspace: store.WorkspaceRow,
): Promise<WorkspaceRecord> {
  const counts = await botCounts.call([workspace.id])
  return { workspace, botCount: counts.get(workspace.id) ?? 0 }
}

async function createWorkspaceIn(
  { clock, ids, members }: WorkspacesDeps,
  tx: Tx,
  ownerId: string,
  name: string,
): Promise<store.WorkspaceRow> {
  const now = isoTime(clock.now())
  const workspace: store.WorkspaceRow = {
    id: ids.uuid(),
    owner_id: ownerId,
    name,
    handle: null,
    about: null,
    profile_picture: null,
    contact_email: null,
    website: null,
    social_accounts: null,
    is_public: encodeBoolean(false),
    spending_limit: 0,
    created_at: now,
    updated_at: now,
  }
  await store.insertWorkspace(tx, workspace)
  await members.addOwner(tx, workspace.id, ownerId, now)
  return workspace
}

async function listWorkspaces(
  deps: WorkspaceParts,
  actor: AccountActor,
  query: WorkspaceListQuery,
): Promise<Page<WorkspaceRecord>> {
  const { nextToken, pageSize, handle } = query
  const page = await store.pageWorkspaces(
    deps.db,
    actor.accountId,
    { id: actor.limits.workspaceId, handle },
    deps.pager.page({
      operation: 'listWorkspaces',
      scope: actor.accountId,
      filter: { handle },
      sort: 'created_at',
      direction: 'desc',
      nextToken,
      pageSize,
    }),
  )
  const counts = await deps.botCounts.call(page.rows.map(({ id }) => id))
  return {
    rows: page.rows.map((workspace) => ({
      workspace,
      botCount: counts.get(workspace.id) ?? 0,
    })),
    nextToken: page.nextToken,
  }
}

async function getWorkspace(
  deps: WorkspaceParts,
  actor: WorkspaceActor,
  id: string,
): Promise<WorkspaceRecord> {
  return await withCount(deps, await requireWorkspace(deps, deps.db, actor, id, 'workspace:read'))
}

async function listPublicWorkspaces(
  { db, pager }: WorkspaceParts,
  { nextToken, pageSize, workspaceIds: ids, search }: Query<typeof contract.workspaces.listPublic>,
): Promise<Page<store.WorkspaceRow>> {
  if (ids?.length === 0) return { rows: [], nextToken: undefined }
  return await store.pagePublicWorkspaces(
    db,
    { ids, search },
    pager.page({
      operation: 'listPublicWorkspaces',
      scope: '',
      filter: { ids, search },
      sort: 'created_at',
      direction: 'desc',
      nextToken,
      pageSize,
    }),
  )
}

async function getPublicWorkspace({ db }: WorkspaceParts, id: string): Promise<store.WorkspaceRow> {
  const workspace = await store.findWorkspace(db, id)
  if (workspace !== undefined && decodeBoolean(workspace.is_public)) return workspace
  throw notFound('workspace', id, 'among the public ones')
}

/** The caller becomes the owner. */
async function createWorkspace(
  deps: WorkspacesDeps,
  actor: AccountActor,
  input: NewWorkspace,
  remember: Remember<WorkspaceRecord>,
): Promise<WorkspaceRecord> {
  return await deps.run(async (tx) => {
    if ((await store.countOwned(tx, actor.accountId)) >= maxOwned) {
      throw new ApiError('LimitExceeded', `An account may own ${maxOwned} workspaces.`)
    }
    const made = {
      workspace: await createWorkspaceIn(deps, tx, actor.accountId, input.name),
      botCount: 0,
    }
    const { id, name } = made.workspace
    recordAct(deps, tx, actor, { workspaceId: id, resourceId: id, resourceName: name })
    await remember?.(tx, made)
    return made
  })
}

/** Creates the workspace of a new account. @returns its id */
async function createFirstWorkspace(
  deps: WorkspacesDeps,
  tx: Tx,
  ownerId: string,
): Promise<string> {
  const { id } = await createWorkspaceIn(deps, tx, ownerId, 'Default')
  return id
}

async function updateWorkspace(
  deps: WorkspaceParts,
  actor: WorkspaceActor,
  id: string,
  patch: WorkspacePatch,
): Promise<WorkspaceRecord> {
  const workspace = await deps
    .run(async (tx) => {
      const before = await requireWorkspace(deps, tx, actor, id, 'workspace:write')
      await store.patchWorkspace(tx, id, changesOf(patch, isoTime(deps.clock.now())))
      const after = await requireWorkspace(deps, tx, actor, id, 'workspace:write')
      const changes = changesBetween(before, after, recordedFields)
      recordAct(deps, tx, actor, {
        workspaceId: id,
        resourceId: id,
        resourceName: before.name,
        changes,
      })
      return after
    })
    .catch((error: unknown) => {
      if (!deps.dialect.isUniqueViolation(error)) throw error
      throw new ApiError('AlreadyExists', `body.handle ${patch.handle} is taken.`, {
        cause: error,
      })
    })
  return await withCount(deps, workspace)
}

const recordedFields = [
  'name',
  'handle',
  'about',
  'profile_picture',
  'contact_email',
  'website',
  'social_accounts',
  'is_public',
  'spending_limit',
] as const

/** Whether a handle can be taken, and similar ones if not. */
async function checkHandle(
  { db, members }: WorkspacesDeps,
  actor: AccountActor,
  handle: string,
): Promise<HandleCheck> {
  const similar = similarHandles(handle)
  const taken = await store.findByHandles(db, [handle, ...similar])
  const owner = taken.get(handle)
  if (owner === undefined && isHandle(handle)) return { available: true, suggestions: [] }
  const suggestions = similar.filter((each) => !taken.has(each)).slice(0, maxSuggestions)
  const isOwn = owner !== undefined && (await members.roleOf(actor.accountId, owner)) !== undefined
  return { available: false, suggestions, ...(isOwn && { usedBy: owner }) }
}

async function removeWorkspace(
  deps: WorkspaceParts,
  actor: WorkspaceActor,
  id: string,
): Promise<void> {
  await deps.run(
    async (tx) => {
      // A transaction that creates something in it holds it until its commit: this one then sees the row, and deletes it too.
      await store.lockWorkspace(tx, id)
      const { name } = await requireWorkspace(deps, tx, actor, id, 'workspace:delete')
      recordAct(deps, tx, actor, { workspaceId: id, resourceId: id, resourceName: name })
      await deps.domainEvents.raise(tx, 'workspace.removed', { workspaceId: id })
      await store.deleteWorkspace(tx, id)
    },
    { mayUseReserve: true },
  )
}

/** Deletes the rows that an earlier server let callers create in a workspace after its deletion. */
async function removeLeftovers(deps: WorkspacesDeps, workspaceId: string): Promise<void> {
  await deps.run(
    async (tx) => {
      if (await store.lockWorkspace(tx, workspaceId)) return
      await deps.domainEvents.raise(tx, 'workspace.removed', { workspaceId })
    },
    { mayUseReserve: true },
  )
}

/** The handle of a workspace; null if it has none. */
async function handleOf(executor: Db | Tx, workspaceId: string): Promise<string | null> {
  return await store.findHandle(executor, workspaceId)
}

/** The name of a workspace; empty if it is gone. */
async function nameOf({ db }: WorkspacesDeps, workspaceId: string): Promise<string> {
  return (await store.findWorkspace(db, workspaceId))?.name ?? ''
}

/** The public part of workspaces that publish something, by id. */
async function publishersOf(
  { db }: WorkspacesDeps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, store.PublisherRow>> {
  return await store.listPublishers(db, ids)
}

/** Gives a workspace to its oldest owner if the member who has it is no owner any more. */
async function passOn({ members }: WorkspacesDeps, tx: Tx, workspaceId: string): Promise<void> {
  const owners = await members.ownersOf(tx, workspaceId)
  const workspace = await store.findWorkspace(tx, workspaceId)
  const heir = owners[0]
  if (workspace === undefined || heir === undefined || owners.includes(workspace.owner_id)) return
  await store.patchWorkspace(tx, workspaceId, { owner_id: heir })
}

/**
 * Keeps a workspace from being deleted until the transaction ends: the first statement of each transaction that creates
 * something in it. Processes trust for some seconds that a workspace is there, so that what follows could outlive it.
 * @throws ApiError `Unauthorized`, as authentication does, if it is gone
 */
export async function holdWorkspace(
  tx: Tx,
  { workspaceId }: Pick<WorkspaceActor, 'workspaceId'>,
): Promise<void> {
  if (await store.keepWorkspace(tx, workspaceId)) return
  throw scopeRefusal('x-workspace-id')
}

function changesOf(patch: WorkspacePatch, now: string) {
  return {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.handle !== undefined && { handle: patch.handle }),
    ...(patch.about !== undefined && { about: patch.about }),
    ...(patch.profilePicture !== undefined && { profile_picture: patch.profilePicture }),
    ...(patch.contactEmail !== undefined && { contact_email: patch.contactEmail }),
    ...(patch.website !== undefined && { website: patch.website }),
    ...(patch.socialAccounts !== undefined && {
      social_accounts: encodeJson(patch.socialAccounts),
    }),
    ...(patch.isPublic !== undefined && { is_public: encodeBoolean(patch.isPublic) }),
    ...(patch.spendingLimit !== undefined && { spending_limit: patch.spendingLimit }),
    updated_at: now,
  }
}
