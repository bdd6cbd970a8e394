import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { aliasOf } from '../../../domain/caller.js'
import { storedFilter, type Tags } from '../../../domain/tags.js'
import { timeOf } from '../../../domain/times.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Audience } from '../../bots/bots/index.js'
import { tagsFor } from '../../calls/makers/index.js'
import {
  newTags,
  patchedProperties,
  patchedTags,
  replaceTags,
  type TagsPatch,
  taggedObjects,
} from '../tags/index.js'
import { banRetiredIds, findRetiredId } from './retired-store.js'
import * as store from './runtime-store.js'
import type { UsersDeps } from './service.js'
import { insertUser, type UserRow } from './store.js'

type WantedUser = Body<typeof contract.users.getOrCreate>
type UserPatch = Body<typeof contract.users.update>
type UserQuery = Query<typeof contract.users.list>

/** Users as bots and integrations have them; all ids are native. */
export function runtimeUsers(
  deps: UsersDeps,
  draft: (origin: { botId: string; alias: string }, id: undefined, profile: object) => UserRow,
  removeIn: (tx: Tx, botId: string, id: string) => Promise<boolean>,
) {
  const { db, run, clock, pager } = deps

  function newUser(actor: BotActor, audience: Audience, input: WantedUser): UserRow {
    const alias = aliasOf(actor)
    const { botId } = actor
    return {
      ...draft({ botId, alias: homeOf(actor, audience, input) }, undefined, {}),
      name: input.name ?? null,
      picture_url: input.pictureUrl ?? null,
      tags: encodeJson(newTags(alias, input.tags)),
      properties: encodeJson(patchedProperties({}, input.properties)),
      attributes: encodeJson(patchedProperties({}, input.attributes)),
    }
  }

  async function insert(tx: Tx, user: UserRow): Promise<void> {
    await insertUser(tx, user)
    await replaceTags(tx, tagged(user), {}, decodeJson<Tags>(user.tags))
  }

  /** Stores what a patch changes; a patch that changes nothing writes nothing. */
  async function patch(
    tx: Tx,
    alias: string | undefined,
    user: UserRow,
    changes: UserPatch,
  ): Promise<UserRow> {
    const before = decodeJson<Tags>(user.tags)
    const after = patchedTags(alias, before, changes.tags)
    const next: UserRow = {
      ...user,
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.pictureUrl !== undefined && { picture_url: changes.pictureUrl }),
      tags: encodeJson(after),
      properties: merged(user.properties, changes.properties),
      attributes: merged(user.attributes, changes.attributes),
    }
    if (isSame(user, next)) return user
    const updated_at = isoTime(clock.now())
    const { name, picture_url, tags, properties, attributes } = next
    await store.patchUserById(tx, user.bot_id, user.id, {
      ...{ name, picture_url, tags, properties, attributes, updated_at },
    })
    await replaceTags(tx, tagged(user), before, after)
    return { ...next, updated_at }
  }

  /** A user that may have keys, held off from other changes until the transaction ends. */
  async function lockPerson(tx: Tx, actor: BotActor, id: string): Promise<void> {
    if (id === actor.botId) {
      throw new ApiError('ReferenceConstraint', 'The user of the bot itself has no keys.')
    }
    await requireVisible(tx, actor, id)
    if ((await store.lockUser(tx, actor.botId, id)) === undefined) throw unknown(id)
  }

  const { unknown, findVisible, requireVisible, getOrCreateIn, ...objects } = taggedObjects<
    UserRow,
    WantedUser,
    UserPatch
  >(deps, {
    noun: 'user',
    ...{ homeOf, isVisible, draft: newUser, insert },
    find: store.findUserById,
    lock: store.lockUser,
    match: (tx, botId, home, _, match) => store.matchUser(tx, botId, home, match),
    patch: (tx, actor, _, user, changes) => patch(tx, aliasOf(actor), user, changes),
    mergedInto: ({ tags, properties, attributes }) => ({
      ...{ tags, ...(properties && { properties }), ...(attributes && { attributes }) },
    }),
    orderOf(maker, { tags }) {
      const creation = maker.declares?.user.creation ?? { enabled: false, requiredTags: [] }
      return { tags: tagsFor(maker, 'users', creation, tags) }
    },
    addedTo: ({ integrationName: _, tags: __, ...profile }) => profile,
  })

  return {
    ...objects,
    findVisible,
    getOrCreateIn,

    /** The users with these native ids, in any order. */
    async findAll(executor: Db | Tx, botId: string, ids: readonly string[]): Promise<UserRow[]> {
      return await store.findUsersById(executor, botId, [...new Set(ids)])
    },

    /** The users of an installation, or of the bot without the bot itself. */
    async list(actor: BotActor, query: UserQuery): Promise<Page<UserRow>> {
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
      await deps.requireConversation(actor, filter.conversationId)
      return await store.pageUsers(
        db,
        actor.botId,
        {
          integration: alias,
          conversationId: filter.conversationId,
          tags: storedFilter(alias, filter.tags ?? {}),
          rangeColumn: filter.rangeField === 'updatedAt' ? 'updated_at' : 'created_at',
          after: timeOf('afterDate', filter.afterDate, 'beginning'),
          before: timeOf('beforeDate', filter.beforeDate, 'end'),
        },
        page,
      )
    },

    async removeById(actor: BotActor, id: string): Promise<void> {
      if (id === actor.botId) {
        throw new ApiError('ReferenceConstraint', 'The user that the bot is cannot be deleted.')
      }
      await run(
        async (tx) => {
          await requireVisible(tx, actor, id)
          if (!(await removeIn(tx, actor.botId, id))) throw unknown(id)
        },
        { freesRoom: true },
      )
    },

    /** Refuses all keys that were issued to a user so far, and ends its open streams. */
    async revokeKeys(actor: BotActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          await lockPerson(tx, actor, id)
          const keys_revoked_at = isoTime(clock.now())
          await store.patchUserById(tx, actor.botId, id, { keys_revoked_at })
          deps.onShutOut(tx, id)
        },
        { freesRoom: true },
      )
    },

    /** Bans a user from the chat, or lifts the ban; also one that was deleted, by its id. */
    async setBan(actor: BotActor, id: string, isBanned: boolean): Promise<void> {
      const banned = isBanned ? 1 : 0
      await run(
        async (tx) => {
          const gone = await findRetiredId(tx, actor.botId, id)
          // The ids of a deleted user are two, of which somebody else may have the foreign one by now.
          if (gone?.user_id === id && isOfCaller(actor, gone)) {
            await banRetiredIds(tx, actor.botId, id, banned)
            return
          }
          await lockPerson(tx, actor, id)
          await store.patchUserById(tx, actor.botId, id, { banned })
          if (isBanned) deps.onShutOut(tx, id)
        },
        { freesRoom: true },
      )
    },

    /** Makes the user that a new bot is. */
    async insertBot(tx: Tx, botId: string): Promise<void> {
      const user = draft({ botId, alias: '' }, undefined, {})
      await store.insertBotUser(tx, { ...user, id: botId })
    },
  }
}

/** Alias of the installation that a new user belongs to; empty for those of the bot. */
function homeOf(
  actor: BotActor,
  audience: Audience,
  { integrationName: name }: WantedUser,
): string {
  return aliasOf(actor) ?? (name === undefined ? '' : audience.aliasFor(name))
}

function isVisible(actor: BotActor, user: UserRow): boolean {
  return isOfCaller(actor, user) || user.id === actor.botId
}

function isOfCaller(actor: BotActor, { integration }: { integration: string }): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || integration === alias
}

function tagged(user: UserRow) {
  return { botId: user.bot_id, kind: 'user' as const, id: user.id }
}

function merged(stored: string, changes: TagsPatch | undefined): string {
  return changes === undefined
    ? stored
    : encodeJson(patchedProperties(decodeJson<Tags>(stored), changes))
}

function isSame(a: UserRow, b: UserRow): boolean {
  return (
    a.name === b.name &&
    a.picture_url === b.picture_url &&
    a.tags === b.tags &&
    a.properties === b.properties &&
    a.attributes === b.attributes
  )
}
