import { ApiError, type Body, type contract, type Query, type Role } from '@botstead/contract'
import type { AccountActor, WorkspaceActor } from '../../../domain/actor.js'
import type { Addresses } from '../../../domain/addresses.js'
import { scopeRefusal } from '../../../domain/authenticator.js'
import type { Ports } from '../../../domain/ports.js'
import { notFound } from '../../../domain/refusals.js'
import { requirePermission } from '../../../domain/rights.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import { hashToken, type Ids, newToken } from '../../../platform/ids.js'
import type { AccountRow, AccountsService } from '../accounts/index.js'
import {
  type Act,
  type Acting,
  type AuditDeps,
  actingOf,
  changesBetween,
  recordAct,
  recordIn,
} from '../audit/index.js'
import { type MailService, nameInMail } from '../mail/index.js'
import type { Meter } from '../metering/index.js'
import type { MemberRow } from './store.js'
import * as store from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** Somebody became a member, or their role changed. */
    'member.changed': { workspaceId: string; accountId: string }
    /** Somebody is no longer a member; subscribers delete what they have in the workspace. */
    'member.removed': { workspaceId: string; accountId: string }
  }
}

/** A member or an open invitation, with the account of the member. */
export interface MemberRecord {
  member: MemberRow
  account: AccountRow | undefined
}

/** An open invitation: the only time that its code is known. */
export interface MadeInvitation {
  code: string
  expiresAt: string
  isMailed: boolean
}

export type Invitation = MemberRecord & MadeInvitation

export interface MembersDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  domainEvents: EventDispatcher
  ports: Ports
  addresses: Pick<Addresses, 'base'>
  accounts: Pick<AccountsService, 'findMany' | 'findByEmail' | 'findIn'>
  mail: MailService
  meter: Pick<Meter, 'requireRoomFor'>
}

export type MembersService = ReturnType<typeof createMembersService>

/** Maximum number of members and open invitations of a workspace. */
const maxMembers = 1000
/** Invitations that an account may have mailed without a pause. */
const maxMailedAtOnce = 50
/** Milliseconds for which an invitation is valid. */
const invitationLifetime = 7 * 24 * 60 * 60 * 1000

interface MembersParts extends MembersDeps {
  nameOfWorkspace: (workspaceId: string) => Promise<string>
}

/** Joins the operations on members. */
export function createMembersService(deps: MembersDeps) {
  const nameOfWorkspace = deps.ports.open<MembersParts['nameOfWorkspace']>(
    'members: the names of workspaces',
  )
  const parts: MembersParts = { ...deps, nameOfWorkspace: nameOfWorkspace.call }
  const methods = bound(parts, {
    list: listMembers,
    getOwn: getOwnMember,
    invite: inviteMember,
    renewInvitation,
    update: updateMember,
    remove: removeMember,
    leaveAll,
    roleOf,
    count: countMembers,
    addOwner,
    addNewcomer,
    findInvitation,
    accept: acceptInvitation,
  })
  return { ...methods, hold: holdMembers, ownersOf, nameOfWorkspace }
}

async function listMembers(
  { db, pager, accounts }: MembersDeps,
  { workspaceId }: WorkspaceActor,
  { nextToken, pageSize }: Query<typeof contract.members.list>,
): Promise<Page<MemberRecord>> {
  const page = await store.pageMembers(
    db,
    workspaceId,
    pager.page({
      operation: 'listWorkspaceMembers',
      scope: workspaceId,
      sort: 'created_at',
      direction: 'asc',
      nextToken,
      pageSize,
    }),
  )
  const ids = page.rows.flatMap(({ account_id }) => account_id ?? [])
  const known = await accounts.findMany(ids)
  return {
    rows: page.rows.map((member) => ({ member, account: known.get(member.account_id ?? '') })),
    nextToken: page.nextToken,
  }
}

async function getOwnMember(
  { db, accounts }: MembersDeps,
  { workspaceId, accountId }: WorkspaceActor,
): Promise<MemberRecord> {
  const member = await store.findMemberOf(db, workspaceId, accountId)
  // Removed a moment ago, which this process has not heard of.
  if (member === undefined) throw scopeRefusal('x-workspace-id')
  return { member, account: (await accounts.findMany([accountId])).get(accountId) }
}

async function inviteMember(
  deps: MembersParts,
  actor: WorkspaceActor,
  input: Body<typeof contract.members.create>,
  remember: Remember<Invitation>,
): Promise<Invitation> {
  const { workspaceId } = actor
  const email = input.email.toLowerCase()
  requireRank(actor, input.role)
  const { code, columns } = newInvitation(deps)
  const member: MemberRow = {
    id: deps.ids.next('member'),
    workspace_id: workspaceId,
    account_id: null,
    email,
    role: input.role,
    ...columns,
    created_at: isoTime(deps.clock.now()),
  }
  const letter = input.sendEmail ? await letterOf(deps, actor) : undefined
  const expiresAt = columns.invitation_expires_at
  const made = { member, account: undefined, code, expiresAt, isMailed: letter !== undefined }
  await deps
    .run(async (tx) => {
      // Those who invite at the same time wait for each other, so that the count is exact.
      await store.lockOwners(tx, workspaceId)
      await requireRoom(deps, tx, workspaceId)
      if (await isKnown(deps, tx, workspaceId, email)) throw alreadyThere(email)
      await store.insertMember(tx, member)
      const changes = { role: { to: member.role } }
      recordAct(deps, tx, actor, { resourceId: member.id, resourceName: email, changes })
      if (letter !== undefined) await mailInvitation(deps, tx, letter, email, made)
      await remember?.(tx, made)
    })
    .catch((error: unknown) => {
      if (deps.dialect.isUniqueViolation(error)) throw alreadyThere(email, error)
      // The workspace was deleted a moment ago.
      if (deps.dialect.isForeignKeyViolation(error)) throw scopeRefusal('x-workspace-id')
      throw error
    })
  return made
}

/** Whether somebody with an address is a member or invited. */
async function isKnown(
  { accounts }: MembersDeps,
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<boolean> {
  if ((await store.findByEmail(tx, workspaceId, email)) !== undefined) return true
  const account = await accounts.findByEmail(tx, email)
  return (
    account !== undefined && (await store.findMemberOf(tx, workspaceId, account.id)) !== undefined
  )
}

function alreadyThere(email: string, cause?: unknown): ApiError {
  return new ApiError('AlreadyExists', `body.email: ${email} is a member or invited already.`, {
    metadata: { in: 'body', field: 'email' },
    cause,
  })
}

function newInvitation({ clock }: MembersDeps) {
  const code = newToken('bp_inv_')
  const columns = {
    invitation_hash: hashToken(code),
    invitation_expires_at: isoTime(clock.now() + invitationLifetime),
  }
  return { code, columns }
}

async function renewInvitation(
  deps: MembersParts,
  actor: WorkspaceActor,
  id: string,
  { sendEmail = false }: Body<typeof contract.members.renewInvitation>,
): Promise<MadeInvitation> {
  const { code, columns } = newInvitation(deps)
  const letter = sendEmail ? await letterOf(deps, actor) : undefined
  const made = { code, expiresAt: columns.invitation_expires_at, isMailed: letter !== undefined }
  await deps.run(async (tx) => {
    const member = await requireMember(tx, actor, id)
    requireRank(actor, member.role)
    if (member.account_id !== null) {
      throw notFound('open invitation', id, 'in this workspace')
    }
    await store.patchMember(tx, actor.workspaceId, id, columns)
    recordAct(deps, tx, actor, { resourceId: id, resourceName: member.email })
    if (letter !== undefined) await mailInvitation(deps, tx, letter, member.email ?? '', made)
  })
  return made
}

/** The address of the page on which an invited person joins. */
export function invitationUrl({ base }: Pick<Addresses, 'base'>, code: string): string {
  // The code stands behind the number sign, which browsers do not send: it is in no log of a proxy.
  return `${base()}/dashboard/join#${code}`
}

interface InvitationLetter {
  /** Account of the inviter, whose mails are counted in all workspaces together. */
  accountId: string
  workspace: string
  inviter: string
}

/** The names in the mail of an invitation; undefined where no mail is sent. */
async function letterOf(
  { nameOfWorkspace, accounts, mail }: MembersParts,
  { workspaceId, accountId }: WorkspaceActor,
): Promise<InvitationLetter | undefined> {
  if (!mail.isOn) return undefined
  const inviter = (await accounts.findMany([accountId])).get(accountId)
  return {
    accountId,
    workspace: nameInMail(await nameOfWorkspace(workspaceId)),
    inviter: nameInMail(inviter?.display_name || inviter?.email || ''),
  }
}

async function mailInvitation(
  { addresses, mail }: MembersDeps,
  tx: Tx,
  { accountId, workspace, inviter }: InvitationLetter,
  to: string,
  { code, expiresAt }: MadeInvitation,
): Promise<void> {
  const place = new URL(addresses.base()).host
  await mail.countTo(tx, 'invitation', to, { key: accountId, free: maxMailedAtOnce })
  await mail.enqueue(tx, {
    to,
    expiresAt,
    subject: `Invitation to ${workspace} on Botstead`,
    paragraphs: [`${inviter} invites you to the workspace ${workspace} at ${place}.`],
    link: { label: 'Open the invitation', url: invitationUrl(addresses, code) },
    after: [
      'The link works once, within seven days.',
      'If you do not know who sent this, do nothing.',
    ],
  })
}

async function updateMember(
  deps: MembersDeps,
  actor: WorkspaceActor,
  id: string,
  { role }: Body<typeof contract.members.update>,
): Promise<MemberRecord> {
  const changed = await deps.run(async (tx) => {
    const owners = await store.lockOwners(tx, actor.workspaceId)
    const member = await requireMember(tx, actor, id)
    const changed = role === undefined ? member : { ...member, role }
    if (changed.role !== member.role) {
      requireRank(actor, member.role)
      requireRank(actor, changed.role)
      requireOtherOwner(member, owners, 'keep that role')
      await store.patchMember(tx, actor.workspaceId, id, { role: changed.role })
      await raise(deps, tx, 'member.changed', member)
    }
    const changes = changesBetween(member, changed, ['role'])
    recordAct(deps, tx, actor, { ...(await named(deps, tx, member)), changes })
    return changed
  })
  const { account_id: accountId } = changed
  const known = await deps.accounts.findMany(accountId === null ? [] : [accountId])
  return { member: changed, account: known.get(accountId ?? '') }
}

async function removeMember(deps: MembersDeps, actor: WorkspaceActor, id: string): Promise<void> {
  await deps.run(
    async (tx) => {
      const owners = await store.lockOwners(tx, actor.workspaceId)
      const member = await requireMember(tx, actor, id)
      if (member.account_id !== actor.accountId) {
        requirePermission(actor.rights, 'members:write')
        requireRank(actor, member.role)
      }
      requireOtherOwner(member, owners, 'stay')
      recordAct(deps, tx, actor, {
        ...(await named(deps, tx, member)),
        changes: { role: { from: member.role } },
      })
      await store.deleteMember(tx, actor.workspaceId, id)
      await raise(deps, tx, 'member.removed', member)
    },
    { mayUseReserve: true },
  )
}

/** Ends the memberships of an account. @throws ApiError if it is the last owner of a workspace */
async function leaveAll(deps: MembersDeps, tx: Tx, actor: AccountActor): Promise<void> {
  const { accountId } = actor
  for (const { workspace_id: workspaceId } of await store.listMembershipsOf(tx, accountId)) {
    const owners = await store.lockOwners(tx, workspaceId)
    const member = await store.findMemberOf(tx, workspaceId, accountId)
    if (member === undefined) continue
    if (isLastOwner(member, owners)) {
      throw new ApiError(
        'ReferenceConstraint',
        `The account is the last owner of workspace ${workspaceId}: make somebody else an owner first, or delete the workspace.`,
      )
    }
    await store.deleteMember(tx, workspaceId, member.id)
    // Without the address of the person, who may want to be forgotten.
    const changes = { role: { from: member.role } }
    recordAct(deps, tx, actor, { workspaceId, resourceId: member.id, changes })
    await raise(deps, tx, 'member.removed', member)
  }
}

/** A member in the audit log: by the address of their account, or the one that was invited. */
async function named({ accounts }: MembersDeps, tx: Tx, { id, account_id, email }: MemberRow) {
  const account = account_id === null ? undefined : await accounts.findIn(tx, account_id)
  return { resourceId: id, resourceName: account?.email ?? email }
}

/** Records an act that concerns an account in each of its workspaces. */
export function recordOfAccount(
  deps: AuditDeps,
  tx: Tx,
  acting: Acting & { accountId: string },
  act: Act = {},
): void {
  const workspaces = (tx: Tx) => store.listWorkspacesOf(tx, acting.accountId)
  recordIn(deps, tx, workspaces, acting, { resourceId: acting.accountId, ...act })
}

/** Records what a command of the operator does to an account in each of its workspaces. */
export function recordByOperator(
  deps: AuditDeps,
  tx: Tx,
  operation: string,
  accountId: string,
  act: Act = {},
): void {
  const workspaces = (tx: Tx) => store.listWorkspacesOf(tx, accountId)
  const acting = { operation, authority: 'operator' } as const
  recordIn(deps, tx, workspaces, acting, { resourceId: accountId, ...act })
}

/** Records an act of a caller that concerns their account in each of its workspaces. */
export function recordOwn(deps: AuditDeps, tx: Tx, actor: AccountActor, act: Act = {}): void {
  const { accountId, origin } = actor
  if (origin === undefined) return
  recordOfAccount(deps, tx, { ...actingOf(actor, origin), accountId }, act)
}

async function raise(
  { domainEvents }: MembersDeps,
  tx: Tx,
  event: 'member.changed' | 'member.removed',
  { workspace_id: workspaceId, account_id: accountId }: MemberRow,
): Promise<void> {
  if (accountId !== null) await domainEvents.raise(tx, event, { workspaceId, accountId })
}

async function requireMember(tx: Tx, actor: WorkspaceActor, id: string): Promise<MemberRow> {
  const member = await store.lockMember(tx, actor.workspaceId, id)
  if (member === undefined) throw notFound('member', id, 'in this workspace')
  return member
}

/** Only owners give or take the role of an owner. */
function requireRank({ rights }: WorkspaceActor, role: Role): void {
  if (role !== 'owner' || rights.role === 'owner') return
  throw new ApiError('Forbidden', `The role ${rights.role} may not give or take the role owner.`)
}

function isLastOwner(member: MemberRow, owners: readonly MemberRow[]): boolean {
  if (member.role !== 'owner' || member.account_id === null) return false
  return owners.every(({ id }) => id === member.id)
}

function requireOtherOwner(member: MemberRow, owners: readonly MemberRow[], must: string): void {
  if (!isLastOwner(member, owners)) return
  throw new ApiError(
    'ReferenceConstraint',
    `The last owner of a workspace must ${must}: make somebody else an owner first.`,
  )
}

/** The members among some accounts; none of them is removed until the transaction ends. */
async function holdMembers(
  tx: Tx,
  workspaceId: string,
  accountIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(await store.lockMembersOf(tx, workspaceId, accountIds))
}

/** The role of an account in a workspace; undefined if it is not a member. */
async function roleOf(
  { db }: MembersDeps,
  accountId: string,
  workspaceId: string,
  executor: Db | Tx = db,
): Promise<Role | undefined> {
  return (await store.findMemberOf(executor, workspaceId, accountId))?.role
}

/** The number of members of a workspace, with open invitations. */
async function countMembers({ db }: MembersDeps, workspaceId: string): Promise<number> {
  return await store.countMembers(db, workspaceId)
}

/** The accounts of the owners of a workspace, oldest member first. */
async function ownersOf(tx: Tx, workspaceId: string): Promise<string[]> {
  return (await store.lockOwners(tx, workspaceId)).flatMap(({ account_id }) => account_id ?? [])
}

/** Makes the creator of a workspace its owner. */
async function addOwner(
  { ids }: MembersDeps,
  tx: Tx,
  workspaceId: string,
  accountId: string,
  createdAt: string,
): Promise<void> {
  await store.insertMember(tx, {
    id: ids.next('member'),
    workspace_id: workspaceId,
    account_id: accountId,
    role: 'owner',
    created_at: createdAt,
  })
}

/**
 * Makes somebody a member who has proven their address, with the role of their invitation if they are invited.
 * @returns the role; undefined if the invitation was changed meanwhile
 * @throws ApiError if the workspace is gone or full
 */
async function addNewcomer(
  deps: MembersDeps,
  tx: Tx,
  workspaceId: string,
  { accountId, email, role }: { accountId: string; email: string; role: Role },
): Promise<Role | undefined> {
  const { ids, clock, domainEvents } = deps
  if ((await store.lockOwners(tx, workspaceId)).length === 0) {
    throw new ApiError(
      'Forbidden',
      'The workspace of newcomers does not exist: ask the operator of this server to correct BOTSTEAD_OIDC_WORKSPACE.',
    )
  }
  const invitation = await store.findByEmail(tx, workspaceId, email)
  const isOpen = (invitation?.invitation_expires_at ?? '') > isoTime(clock.now())
  if (invitation !== undefined) {
    if (!(await store.acceptInvitation(tx, invitation, accountId))) return undefined
    if (!isOpen) await store.patchMember(tx, workspaceId, invitation.id, { role })
  } else {
    await requireRoom(deps, tx, workspaceId)
    await store.insertMember(tx, {
      id: ids.next('member'),
      workspace_id: workspaceId,
      account_id: accountId,
      role,
      created_at: isoTime(clock.now()),
    })
  }
  await domainEvents.raise(tx, 'member.changed', { workspaceId, accountId })
  return isOpen ? invitation?.role : role
}

/** @throws ApiError `LimitExceeded` if a workspace has as many members as it may have */
async function requireRoom(
  { meter }: Pick<MembersDeps, 'meter'>,
  tx: Tx,
  workspaceId: string,
): Promise<void> {
  const count = () => store.countMembers(tx, workspaceId)
  await meter.requireRoomFor(tx, workspaceId, 'workspace_member_count', count)
  if ((await count()) < maxMembers) return
  throw new ApiError(
    'LimitExceeded',
    `A workspace has at most ${maxMembers} members and open invitations.`,
  )
}

/** The open invitation that a code accepts; undefined if it is unknown, was used or is too old. */
async function findInvitation(
  { clock }: MembersDeps,
  executor: Db | Tx,
  code: string,
): Promise<MemberRow | undefined> {
  const member = await store.findInvitation(executor, hashToken(code))
  const isOpen = (member?.invitation_expires_at ?? '') > isoTime(clock.now())
  return isOpen ? member : undefined
}

/** Makes an account the member that an invitation is for. @returns false if it was accepted or withdrawn meanwhile */
async function acceptInvitation(
  deps: MembersDeps,
  tx: Tx,
  invitation: MemberRow,
  accountId: string,
): Promise<boolean> {
  const { workspace_id: workspaceId } = invitation
  // Before the invitation, in the order of those who change members.
  await store.lockOwners(tx, workspaceId)
  if ((await store.findMemberOf(tx, workspaceId, accountId)) !== undefined) {
    throw new ApiError('AlreadyExists', 'You are a member of this workspace already.')
  }
  if (!(await store.acceptInvitation(tx, invitation, accountId))) return false
  await deps.domainEvents.raise(tx, 'member.changed', { workspaceId, accountId })
  return true
}
