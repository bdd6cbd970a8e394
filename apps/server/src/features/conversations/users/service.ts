import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import type { Port, Ports } from '../../../domain/ports.js'
import { storedFilter, type Tags } from '../../../domain/tags.js'
import { timeOf } from '../../../domain/times.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import { creationTags, type RemoteCreator } from '../../calls/remote-creation/index.js'
import type { EventsService } from '../events/index.js'
import {
  deleteTags,
  newTags,
  patchedProperties,
  patchedTags,
  replaceTags,
  taggedObjects,
} from '../tags/index.js'
import {
  createUserKeys,
  isNativeId,
  requireForeignId,
  requireGoodKey,
  requireNotBanned,
  takenId,
} from './keys.js'
import { merged, type Profile, patchOf, requireFew } from './profile.js'
import * as store from './store.js'

type WantedUser = Body<typeof contract.users.getOrCreate>
type UserPatch = Body<typeof contract.users.update>
type UserQuery = Query<typeof contract.users.list>

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A user is being deleted; subscribers delete what belongs to it. */
    'user.removed': { botId: string; userId: string }
  }
}

/** The origin of a user. */
interface UserOrigin {
  botId: string
  /** Alias of the installation; empty for the bot and the users that it creates. */
  alias: string
}

export interface UsersDeps {
  ports: Pick<Ports, 'open'>
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  botProfiles: BotProfiles
  remoteCreator: RemoteCreator
  domainEvents: Pick<EventDispatcher, 'raise'>
  events: Pick<EventsService, 'subjects' | 'requireSubjects'>
}

/** The parts of the service that its functions use. */
interface UserParts extends UsersDeps {
  participants: Port<(conversationId: string) => store.Members>
  requireVisible(executor: Db | Tx, actor: BotActor, id: string): Promise<store.UserRow>
  unknown(id: string): ApiError
}

export type UsersService = ReturnType<typeof createUsersService>

/** Users: for chat clients by foreign or native id, for bots and integrations by native id. */
export function createUsersService(deps: UsersDeps) {
  const { run, clock, domainEvents, events, ports } = deps
  const participants = ports.open<(conversationId: string) => store.Members>('users: participants')

  const { unknown, findVisible, requireVisible, getOrCreateIn, ...objects } = taggedObjects<
    store.UserRow,
    WantedUser,
    UserPatch
  >(deps, {
    noun: 'user',
    integrationOf,
    isVisible,
    draft: (...request) => draftOfCaller(deps, ...request),
    insert: insertTagged,
    find: store.findUserById,
    lock: store.lockUser,
    match: (tx, botId, integration, _, match) => store.matchUser(tx, botId, integration, match),
    patch: (tx, actor, _, user, changes) => patchTagged(deps, tx, aliasOf(actor), user, changes),
    mergedInto: ({ tags, properties, attributes }) => ({
      tags,
      ...(properties && { properties }),
      ...(attributes && { attributes }),
    }),
    creationRequest(creator, { tags }) {
      const creation = creator.declares?.user.creation ?? { enabled: false, requiredTags: [] }
      return { tags: creationTags(creator, 'users', creation, tags) }
    },
    addedTo: ({ integrationName: _, tags: __, ...profile }) => profile,
  })
  const keys = createUserKeys({ run, clock, domainEvents, requireVisible, isOfCaller, unknown })
  events.subjects.userId.fill(async (...user) => (await findVisible(...user)) !== undefined)

  return {
    ...objects,
    ...keys,
    ...bound(
      { ...deps, participants, requireVisible, unknown },
      {
        draft: draftUser,
        insert: insertUser,
        insertBot: insertBotUser,
        getOrCreate: getOrCreateUser,
        patch: patchUser,
        list: listUsers,
        publicIds,
        remove: removeUser,
        removeById: removeUserById,
        purge: purgeUsers,
      },
    ),
    findVisible,
    getOrCreateIn,
    /** The user with this foreign or native id. */
    find: store.findUser,
    /** The users with these native ids, in any order. */
    findAll: store.findUsersById,
    participants,
    pageMembers: store.pageMembers,
    findMember: store.findMember,
  }
}

/** A user that is not stored yet. */
function draftUser(
  { clock, ids }: UsersDeps,
  origin: UserOrigin,
  id: string | undefined,
  profile: Profile,
): store.UserRow {
  const now = isoTime(clock.now())
  return {
    id: ids.next('user'),
    bot_id: origin.botId,
    foreign_id: id ?? null,
    integration: origin.alias,
    name: profile.name ?? null,
    picture_url: profile.pictureUrl ?? null,
    profile: profile.profile ?? null,
    tags: '{}',
    properties: '{}',
    attributes: merged('{}', profile.attributes),
    data: profile.data ? encodeJson(profile.data) : null,
    keys_revoked_at: null,
    banned: 0,
    created_at: now,
    updated_at: now,
  }
}

function draftOfCaller(
  deps: UsersDeps,
  actor: BotActor,
  profile: BotProfile,
  input: WantedUser,
): store.UserRow {
  const { botId } = actor
  return {
    ...draftUser(deps, { botId, alias: integrationOf(actor, profile, input) }, undefined, {}),
    name: input.name ?? null,
    picture_url: input.pictureUrl ?? null,
    tags: encodeJson(newTags(aliasOf(actor), input.tags)),
    properties: encodeJson(patchedProperties({}, input.properties)),
    attributes: encodeJson(patchedProperties({}, input.attributes)),
  }
}

async function insertTagged(tx: Tx, user: store.UserRow): Promise<void> {
  await store.insertUser(tx, user)
  await replaceTags(tx, tagged(user), {}, decodeJson<Tags>(user.tags))
}

/** Stores a patch; writes nothing if it changes nothing. */
async function patchTagged(
  { clock }: UsersDeps,
  tx: Tx,
  alias: string | undefined,
  user: store.UserRow,
  changes: UserPatch,
): Promise<store.UserRow> {
  const before = decodeJson<Tags>(user.tags)
  const after = patchedTags(alias, before, changes.tags)
  const next = {
    name: changes.name === undefined ? user.name : changes.name,
    picture_url: changes.pictureUrl === undefined ? user.picture_url : changes.pictureUrl,
    tags: encodeJson(after),
    properties: merged(user.properties, changes.properties),
    attributes: merged(user.attributes, changes.attributes),
  }
  if (isSame(user, next)) return user
  const patch = { ...next, updated_at: isoTime(clock.now()) }
  await store.patchLockedUser(tx, user.bot_id, user.id, patch)
  await replaceTags(tx, tagged(user), before, after)
  return { ...user, ...patch }
}

/** Creates the user that represents a new bot. */
async function insertBotUser(deps: UsersDeps, tx: Tx, botId: string): Promise<void> {
  await store.insertBotUser(tx, {
    ...draftUser(deps, { botId, alias: '' }, undefined, {}),
    id: botId,
  })
}

/**
 * Stores a draft. Throws `AlreadyExists` if its foreign id is taken, and `Forbidden` if an
 * earlier user of the id is banned.
 */
async function insertUser(
  { dialect }: UsersDeps,
  tx: Tx,
  user: store.UserRow,
): Promise<store.UserRow> {
  if (user.foreign_id !== null && (await isNativeId(tx, user.bot_id, user.foreign_id))) {
    throw takenId(user.foreign_id)
  }
  try {
    await store.insertUser(tx, user)
  } catch (error) {
    if (dialect.isUniqueViolation(error)) throw takenId(user.foreign_id, error)
    throw error
  }
  const made = await withPast(tx, user)
  requireNotBanned(made)
  return made
}

/**
 * The user of a key, by foreign or native id, with the given members overwritten; created if
 * there is none. Of concurrent calls one creates the user and the others find it. Throws if the
 * key is no longer valid.
 * @param issuedAt of the key, milliseconds since the Unix epoch
 */
async function getOrCreateUser(
  deps: UsersDeps,
  origin: UserOrigin,
  id: string,
  profile: Profile,
  issuedAt: number | undefined,
): Promise<store.UserRow> {
  const changes = patchOf(profile)
  const hasChanges = Object.keys(changes).length > 0
  const existing = await store.findUser(deps.db, origin.botId, id)
  if (existing !== undefined) requireGoodKey(existing, issuedAt)
  if (existing !== undefined && !hasChanges) return existing
  return await deps.run(async (tx) => {
    const current = await store.findUser(tx, origin.botId, id)
    if (current !== undefined) {
      requireGoodKey(current, issuedAt)
      if (!hasChanges) return current
      const patched = { ...changes, updated_at: isoTime(deps.clock.now()) }
      return (await store.patchUser(tx, origin.botId, current.id, patched)) ?? current
    }
    requireForeignId(origin.botId, id)
    const drafted = draftUser(deps, origin, id, profile)
    const stored = await store.upsertUser(tx, drafted, changes)
    const made = stored.id === drafted.id ? await withPast(tx, stored) : stored
    requireGoodKey(made, issuedAt)
    return made
  })
}

/** Adds the revocation and the ban of earlier users of the id to a new user. */
async function withPast(tx: Tx, user: store.UserRow): Promise<store.UserRow> {
  if (user.foreign_id === null) return user
  // After the insert: a concurrent deletion of the earlier user has committed by then.
  const past = await store.findRetiredId(tx, user.bot_id, user.foreign_id)
  if (past === undefined) return user
  const { keys_revoked_at, banned } = past
  await store.patchUser(tx, user.bot_id, user.id, { keys_revoked_at, banned })
  return { ...user, keys_revoked_at, banned }
}

/** Overwrites the given members of a user; undefined if there is no such user. */
async function patchUser(
  { clock }: UsersDeps,
  tx: Tx,
  botId: string,
  id: string,
  profile: Profile,
): Promise<store.UserRow | undefined> {
  const changes = { ...patchOf(profile), updated_at: isoTime(clock.now()) }
  if (profile.attributes === undefined) return await store.patchUser(tx, botId, id, changes)
  const user = await store.lockUser(tx, botId, id)
  if (user === undefined) return undefined
  const attributes = merged(user.attributes, profile.attributes)
  requireFew(attributes)
  return await store.patchUser(tx, botId, id, { ...changes, attributes })
}

/** The users of an installation, or of the bot without the bot itself. */
async function listUsers(
  { pager, events, db, participants }: UserParts,
  actor: BotActor,
  query: UserQuery,
): Promise<Page<store.UserRow>> {
  const { nextToken, pageSize, sortField, sortDirection, ...filter } = query
  const alias = aliasOf(actor)
  const page = pager.page({
    operation: 'listUsers',
    scope: `${actor.botId}/${alias ?? ''}`,
    filter,
    sort: sortField === 'updatedAt' ? 'updated_at' : 'created_at',
    direction: sortDirection ?? 'desc',
    nextToken,
    pageSize,
  })
  const { conversationId } = filter
  await events.requireSubjects(db, actor, { conversationId }, 'query')
  return await store.pageUsers(
    db,
    actor.botId,
    {
      integration: alias,
      members: conversationId === undefined ? undefined : participants.call(conversationId),
      tags: storedFilter(alias, filter.tags ?? {}),
      rangeColumn: filter.rangeField === 'updatedAt' ? 'updated_at' : 'created_at',
      after: timeOf('afterDate', filter.afterDate, 'beginning'),
      before: timeOf('beforeDate', filter.beforeDate, 'end'),
    },
    page,
  )
}

/** Public ids of users by their native ids; users without a foreign id have the native one. */
async function publicIds(
  { db }: UsersDeps,
  botId: string,
  nativeIds: Iterable<string>,
): Promise<Map<string, string>> {
  const distinct = [...new Set(nativeIds)]
  const chosen = await store.listForeignIds(db, botId, distinct)
  const shown = new Map(distinct.map((id) => [id, id]))
  for (const { id, foreign_id } of chosen) shown.set(id, foreign_id)
  return shown
}

/** Removes a user, whose foreign id is free from then on; false if there is none. */
async function removeUser(
  { clock, domainEvents }: UsersDeps,
  tx: Tx,
  botId: string,
  id: string,
): Promise<boolean> {
  const user = await store.deleteUser(tx, botId, id)
  if (user === undefined) return false
  // Its keys must not restore it, nor be valid for a later user of the same id.
  await store.retireIds(tx, user, isoTime(clock.now()))
  await deleteTags(tx, botId, [id])
  await domainEvents.raise(tx, 'user.removed', { botId, userId: id })
  return true
}

async function removeUserById(deps: UserParts, actor: BotActor, id: string): Promise<void> {
  if (id === actor.botId) {
    throw new ApiError('ReferenceConstraint', 'The user of the bot itself cannot be deleted.')
  }
  await deps.run(
    async (tx) => {
      await deps.requireVisible(tx, actor, id)
      if (!(await removeUser(deps, tx, actor.botId, id))) throw deps.unknown(id)
    },
    { mayUseReserve: true },
  )
}

/** Deletes the users of a deleted bot. */
async function purgeUsers({ run }: UsersDeps, botId: string): Promise<void> {
  await purgeRows(run, (tx, limit) => store.deleteSomeUsers(tx, botId, limit))
  await purgeRows(run, (tx, limit) => store.deleteSomeRetiredIds(tx, botId, limit))
}

/** Alias of the installation that a new user belongs to; empty for those of the bot. */
function integrationOf(
  actor: BotActor,
  profile: BotProfile,
  { integrationName: name }: WantedUser,
): string {
  return aliasOf(actor) ?? (name === undefined ? '' : profile.aliasFor(name))
}

function isVisible(actor: BotActor, user: store.UserRow): boolean {
  return isOfCaller(actor, user) || user.id === actor.botId
}

function isOfCaller(actor: BotActor, { integration }: { integration: string }): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || integration === alias
}

function tagged(user: store.UserRow) {
  return { botId: user.bot_id, kind: 'user' as const, id: user.id }
}

function isSame<Members extends object>(row: Members, members: Partial<Members>): boolean {
  return Object.entries(members).every(([name, value]) => row[name as keyof Members] === value)
}
