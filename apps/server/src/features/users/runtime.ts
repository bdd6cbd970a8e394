import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../platform/actor.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson, encodeJson } from '../../platform/db/columns.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Remember } from '../../platform/idempotency/remember.js'
import { storedFilter, type Tags } from '../../platform/tags.js'
import type { Db, Tx } from '../../schema.js'
import type { Audience } from '../bots/index.js'
import { aliasOf, type Maker, makerOf, tagsFor, timeOf } from '../runtime/index.js'
import {
  newTags,
  patchedProperties,
  patchedTags,
  replaceTags,
  type TagsPatch,
  tagMatchOf,
} from '../tags/index.js'
import * as store from './runtime-store.js'
import type { UsersDeps } from './service.js'
import { insertUser, type UserRow } from './store.js'

type NewUser = Body<typeof contract.users.create>
type WantedUser = Body<typeof contract.users.getOrCreate>
type UserPatch = Body<typeof contract.users.update>
type UserQuery = Query<typeof contract.users.list>

/** A user, and whether the call made it. */
export interface FoundUser {
  user: UserRow
  created: boolean
}

/** Users as bots and integrations have them; all ids are native. */
export function runtimeUsers(
  deps: UsersDeps,
  draft: (origin: { botId: string; alias: string }, id: undefined, profile: object) => UserRow,
  removeIn: (tx: Tx, botId: string, id: string) => Promise<boolean>,
) {
  const { db, run, dialect, clock, pager, audiences } = deps

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

  /** The user with an id, if the caller may see it. */
  async function find(
    executor: Db | Tx,
    actor: BotActor,
    id: string,
  ): Promise<UserRow | undefined> {
    const user = await store.findUserById(executor, actor.botId, id)
    return user !== undefined && isVisible(actor, user) ? user : undefined
  }

  /** Has an integration make a user of its own for the bot. */
  async function makeElsewhere(
    actor: BotActor,
    maker: Maker,
    { integrationName: _, tags: given, ...profile }: WantedUser,
  ): Promise<UserRow> {
    const { alias } = maker
    const creation = maker.declares?.user.creation ?? { enabled: false, requiredTags: [] }
    const tags = tagsFor(maker, 'users', creation, given)
    const id = await deps.makers.make({ botId: actor.botId, alias }, 'create_user', { tags })
    return await run(async (tx) => {
      const made = await store.lockUser(tx, actor.botId, id)
      if (made?.integration !== alias) {
        throw new ApiError('Runtime', `${alias} made no user ${id} in this bot.`)
      }
      return await patch(tx, undefined, made, profile)
    })
  }

  /** In a transaction; see {@link getOrCreateByTags}. */
  async function getOrCreateIn(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    wanted: WantedUser,
  ): Promise<FoundUser> {
    const found = await findIn(tx, actor, audience, wanted)
    if (found !== undefined) return { user: found, created: false }
    const user = newUser(actor, audience, wanted)
    await insert(tx, user)
    return { user, created: true }
  }

  /** The one that the tags mean, with the other tags merged into it; undefined if there is none. */
  async function findIn(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    wanted: WantedUser,
  ): Promise<UserRow | undefined> {
    const alias = aliasOf(actor)
    const home = homeOf(actor, audience, wanted)
    const match = tagMatchOf(alias, wanted.tags, wanted.discriminateByTags)
    // Before looking: of two who find nothing, the second looks after the first has committed.
    await dialect.holdName(tx, `users ${actor.botId} ${home}`)
    const found = await store.matchUser(tx, actor.botId, home, match)
    if (found === undefined) return undefined
    const user = (await store.lockUser(tx, actor.botId, found.id)) ?? found
    const { tags, properties, attributes } = wanted
    const rest = { tags, ...(properties && { properties }), ...(attributes && { attributes }) }
    return await patch(tx, alias, user, rest)
  }

  return {
    async create(actor: BotActor, input: NewUser, remember: Remember<UserRow>): Promise<UserRow> {
      const audience = await audiences.of(actor.botId)
      const maker = makerOf(actor, audience, input.integrationName)
      if (maker !== undefined) {
        const made = await makeElsewhere(actor, maker, input)
        await run(async (tx) => remember?.(tx, made))
        return made
      }
      const user = newUser(actor, audience, input)
      await run(async (tx) => {
        await insert(tx, user)
        await remember?.(tx, user)
      })
      return user
    },

    /** The user with this native id; an integration sees its own users and the bot. */
    async get(actor: BotActor, id: string): Promise<UserRow> {
      const user = await find(db, actor, id)
      if (user === undefined) throw unknownUser(id)
      return user
    },

    /** The user with this native id, if the caller may see it. */
    findVisible: find,

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
          after: timeOf('afterDate', filter.afterDate),
          before: timeOf('beforeDate', filter.beforeDate),
        },
        page,
      )
    },

    getOrCreateIn,

    /** The user that the tags mean, with the other tags merged into it; made if there is none. */
    async getOrCreateByTags(actor: BotActor, wanted: WantedUser): Promise<FoundUser> {
      const audience = await audiences.of(actor.botId)
      const maker = makerOf(actor, audience, wanted.integrationName)
      if (maker === undefined) return await run((tx) => getOrCreateIn(tx, actor, audience, wanted))
      const found = await run((tx) => findIn(tx, actor, audience, wanted))
      if (found !== undefined) return { user: found, created: false }
      return { user: await makeElsewhere(actor, maker, wanted), created: true }
    },

    async update(actor: BotActor, id: string, changes: UserPatch): Promise<UserRow> {
      return await run(async (tx) => {
        const user = await store.lockUser(tx, actor.botId, id)
        if (user === undefined || !isVisible(actor, user)) throw unknownUser(id)
        return await patch(tx, aliasOf(actor), user, changes)
      })
    },

    async removeById(actor: BotActor, id: string): Promise<void> {
      if (id === actor.botId) {
        throw new ApiError('ReferenceConstraint', 'The user that the bot is cannot be deleted.')
      }
      await run(async (tx) => {
        if ((await find(tx, actor, id)) === undefined) throw unknownUser(id)
        await removeIn(tx, actor.botId, id)
      })
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
  const alias = aliasOf(actor)
  return alias === undefined || user.integration === alias || user.id === actor.botId
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

function unknownUser(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no user ${id} in this bot.`)
}
