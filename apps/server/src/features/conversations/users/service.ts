import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Audiences } from '../../bots/bots/index.js'
import type { Makers } from '../../calls/makers/index.js'
import { deleteTags } from '../tags/index.js'
import { requireGoodKey, requireNotBanned } from './good-keys.js'
import * as retired from './retired-store.js'
import { runtimeUsers } from './runtime.js'
import * as store from './store.js'

/** What others are shown of a user; a member that is left out stays as it is. */
export interface Profile {
  name?: string
  pictureUrl?: string
  profile?: string
}

/** Where a user comes from. */
export interface UserOrigin {
  botId: string
  /** Alias of the installation. */
  alias: string
}

export interface UsersDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  audiences: Audiences
  makers: Makers
  /** Throws `ReferenceNotFound` if a conversation that is asked for is not there to see. */
  requireConversation: (actor: BotActor, id: string | undefined) => Promise<void>
  /** Told in the transaction that removes a user: what only makes sense with it goes too. */
  onRemoved: (tx: Tx, botId: string, userId: string) => Promise<void>
  /** Called in the transaction that ends keys of a user: their open streams end after its commit. */
  onShutOut: (tx: Tx, userId: string) => void
}

/** Ids that apps choose. */
const foreignId = /^[A-Za-z0-9_/\\-]{1,70}$/

export type UsersService = ReturnType<typeof createUsersService>

export function createUsersService(deps: UsersDeps) {
  const { db, run, dialect, clock, ids } = deps

  function draft(origin: UserOrigin, id: string | undefined, profile: Profile): store.UserRow {
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
      attributes: '{}',
      keys_revoked_at: null,
      banned: 0,
      created_at: now,
      updated_at: now,
    }
  }

  async function remove(tx: Tx, botId: string, id: string): Promise<boolean> {
    const user = await store.deleteUser(tx, botId, id)
    if (user === undefined) return false
    // Its keys must not restore it, nor be valid for a later user of the same id.
    await retired.retireIds(tx, user, isoTime(clock.now()))
    await deleteTags(tx, botId, [id])
    await deps.onRemoved(tx, botId, id)
    return true
  }

  /** A new user with the revocation and the ban of earlier users of its id. */
  async function withPast(tx: Tx, user: store.UserRow): Promise<store.UserRow> {
    if (user.foreign_id === null) return user
    // After the insert: a concurrent deletion of the earlier user has committed by then.
    const past = await retired.findRetiredId(tx, user.bot_id, user.foreign_id)
    if (past === undefined) return user
    const { keys_revoked_at, banned } = past
    await store.patchUser(tx, user.bot_id, user.id, { keys_revoked_at, banned })
    return { ...user, keys_revoked_at, banned }
  }

  return {
    ...runtimeUsers(deps, draft, remove),

    /** A user that is not stored yet. */
    draft,

    /**
     * Stores a draft. Throws `AlreadyExists` if its foreign id already names somebody, and `Forbidden`
     * if an earlier user of it is banned.
     */
    async insert(tx: Tx, user: store.UserRow): Promise<store.UserRow> {
      if (user.foreign_id !== null && (await isNativeId(tx, user.bot_id, user.foreign_id))) {
        throw taken(user.foreign_id)
      }
      try {
        await store.insertUser(tx, user)
      } catch (error) {
        if (dialect.isUniqueViolation(error)) throw taken(user.foreign_id, error)
        throw error
      }
      const made = await withPast(tx, user)
      requireNotBanned(made)
      return made
    },

    /**
     * The user that a key names by its foreign or native id, with the given members overwritten; made
     * if there is none. Of parallel calls one makes the user and the others find it. Throws for a key
     * that is not good any more.
     * @param issuedAt of the key, milliseconds since the Unix epoch
     */
    async getOrCreate(
      origin: UserOrigin,
      id: string,
      profile: Profile,
      issuedAt: number | undefined,
    ): Promise<store.UserRow> {
      const patch = patchOf(profile)
      const changes = Object.keys(patch).length > 0
      const existing = await store.findUser(db, origin.botId, id)
      if (existing !== undefined) requireGoodKey(existing, issuedAt)
      if (existing !== undefined && !changes) return existing
      return await run(async (tx) => {
        const current = await store.findUser(tx, origin.botId, id)
        if (current !== undefined) {
          requireGoodKey(current, issuedAt)
          if (!changes) return current
          const now = isoTime(clock.now())
          const patched = { ...patch, updated_at: now }
          return (await store.patchUser(tx, origin.botId, current.id, patched)) ?? current
        }
        requireForeignId(origin.botId, id)
        const drafted = draft(origin, id, profile)
        const stored = await store.upsertUser(tx, drafted, patch)
        const made = stored.id === drafted.id ? await withPast(tx, stored) : stored
        requireGoodKey(made, issuedAt)
        return made
      })
    },

    /** The user with this foreign or native id. */
    async find(executor: Db | Tx, botId: string, id: string): Promise<store.UserRow | undefined> {
      return await store.findUser(executor, botId, id)
    },

    /** Overwrites what is given of a user; undefined if there is no such user. */
    async patch(
      tx: Tx,
      botId: string,
      id: string,
      profile: Profile,
    ): Promise<store.UserRow | undefined> {
      const updated_at = isoTime(clock.now())
      return await store.patchUser(tx, botId, id, { ...patchOf(profile), updated_at })
    },

    /** Removes a user, whose foreign id is free from then on; false if there is none. */
    remove,

    /** Ids as they are shown, by native id; those without an id of their own show the native one. */
    async publicIds(botId: string, nativeIds: Iterable<string>): Promise<Map<string, string>> {
      const distinct = [...new Set(nativeIds)]
      const chosen = await store.listForeignIds(db, botId, distinct)
      const shown = new Map(distinct.map((id) => [id, id]))
      for (const { id, foreign_id } of chosen) shown.set(id, foreign_id)
      return shown
    },

    /** Removes the users that a deleted bot left behind. */
    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeUsers(tx, botId, limit))
      await purge(run, (tx, limit) => retired.deleteSomeRetiredIds(tx, botId, limit))
    },
  }
}

/** The id under which a user is shown. */
export function publicIdOf(user: Pick<store.UserRow, 'id' | 'foreign_id'>): string {
  return user.foreign_id ?? user.id
}

/**
 * Whether an id that somebody wants to choose is the native id of a user, or of the bot: then who
 * chooses it would act as that user.
 */
async function isNativeId(tx: Tx, botId: string, id: string): Promise<boolean> {
  if (id === botId) return true
  return id.startsWith('user_') && (await store.findUser(tx, botId, id)) !== undefined
}

function requireForeignId(botId: string, id: string): void {
  if (!foreignId.test(id) || id === botId) {
    throw new ApiError(
      'InvalidPayload',
      'The id in the header x-user-key must be 1 to 70 of A-Z a-z 0-9 _ - / \\, and not the id of the bot.',
      { metadata: { in: 'headers', field: 'x-user-key' } },
    )
  }
}

function patchOf(profile: Profile): store.ProfilePatch {
  return {
    ...(profile.name !== undefined && { name: profile.name }),
    ...(profile.pictureUrl !== undefined && { picture_url: profile.pictureUrl }),
    ...(profile.profile !== undefined && { profile: profile.profile }),
  }
}

function taken(id: string | null, cause?: unknown): ApiError {
  return new ApiError(
    'AlreadyExists',
    `body.id: there is a user ${id} already. Its key was returned only to the caller that created it: choose another id.`,
    { cause },
  )
}
