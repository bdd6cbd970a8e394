import { ApiError } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import {
  type CreatingIntegration,
  creatorOf,
  type RemoteCreator,
} from '../../calls/remote-creation/index.js'
import type { TagMatch } from './store.js'
import { tagMatchOf } from './tag-patch.js'

interface Stored {
  bot_id: string
  id: string
  /** Alias of the installation that it belongs to. */
  integration: string
}

/** An object to find by its tags or to create. */
interface TaggedInput {
  tags: Record<string, string | null>
  discriminateByTags?: string[]
  integrationName?: string
}

/** A row, and whether the call created it. */
export interface GetOrCreateResult<Row> {
  row: Row
  created: boolean
}

interface TaggedObjectsDeps {
  db: Db
  run: Run
  dialect: Dialect
  botProfiles: BotProfiles
  remoteCreator: RemoteCreator
}

/** The differences between users and conversations. */
interface TaggedKind<Row extends Stored, Input extends TaggedInput, Changes> {
  noun: 'user' | 'conversation'
  /** Alias of the installation that a new one belongs to. */
  integrationOf(actor: BotActor, profile: BotProfile, wanted: Input): string
  isVisible(actor: BotActor, row: Row): boolean
  /** A row that is not stored yet. */
  draft(actor: BotActor, profile: BotProfile, wanted: Input): Row
  insert(tx: Tx, row: Row): Promise<void>
  find(executor: Db | Tx, botId: string, id: string): Promise<Row | undefined>
  lock(tx: Tx, botId: string, id: string): Promise<Row | undefined>
  match(
    tx: Tx,
    botId: string,
    integration: string,
    wanted: Input,
    match: TagMatch,
  ): Promise<Row | undefined>
  /** Stores the changes. */
  patch(tx: Tx, actor: BotActor, profile: BotProfile, row: Row, changes: Changes): Promise<Row>
  /** Changes to merge into an existing object. */
  mergedInto(wanted: Input): Changes
  /** Body of the request to the integration that creates one. Throws unless the integration allows it. */
  creationRequest(
    creator: CreatingIntegration,
    wanted: Input,
  ): Parameters<RemoteCreator['create']>[2]
  /** Members that the integration does not store; written here after it created the object. */
  addedTo(wanted: Input): Changes
}

/**
 * The common part of users and conversations: they are found by tags, created here or by an integration,
 * and visible to their integration.
 */
export function taggedObjects<Row extends Stored, Input extends TaggedInput, Changes>(
  { db, run, dialect, botProfiles, remoteCreator }: TaggedObjectsDeps,
  kind: TaggedKind<Row, Input, Changes>,
) {
  const { noun } = kind

  const unknown = (id: string) => notFound(noun, id, 'in this bot')

  async function findVisible(
    executor: Db | Tx,
    actor: BotActor,
    id: string,
  ): Promise<Row | undefined> {
    const row = await kind.find(executor, actor.botId, id)
    return row !== undefined && kind.isVisible(actor, row) ? row : undefined
  }

  async function requireVisible(executor: Db | Tx, actor: BotActor, id: string): Promise<Row> {
    const row = await findVisible(executor, actor, id)
    if (row === undefined) throw unknown(id)
    return row
  }

  /** Creates the object on the server of an integration, for the bot. */
  async function createRemotely(
    actor: BotActor,
    profile: BotProfile,
    creator: CreatingIntegration,
    wanted: Input,
  ): Promise<Row> {
    const { botId } = actor
    const { alias } = creator
    const body = kind.creationRequest(creator, wanted)
    const id = await remoteCreator.create({ botId, alias }, `create_${noun}`, body)
    return await run(async (tx) => {
      const made = await kind.lock(tx, botId, id)
      if (made?.integration !== alias) {
        throw new ApiError('Runtime', `${alias} made no ${noun} ${id} in this bot.`)
      }
      return await kind.patch(tx, actor, profile, made, kind.addedTo(wanted))
    })
  }

  /** The object that the tags identify, with the other tags merged into it; undefined if there is none. */
  async function findIn(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    wanted: Input,
  ): Promise<Row | undefined> {
    const { botId } = actor
    const integration = kind.integrationOf(actor, profile, wanted)
    const match = tagMatchOf(aliasOf(actor), wanted.tags, wanted.discriminateByTags)
    // Locked before the lookup, so that the second of two callers searches after the first commits.
    await dialect.holdName(tx, `${noun}s ${botId} ${integration}`)
    const found = await kind.match(tx, botId, integration, wanted, match)
    if (found === undefined) return undefined
    const row = (await kind.lock(tx, botId, found.id)) ?? found
    return await kind.patch(tx, actor, profile, row, kind.mergedInto(wanted))
  }

  /** In a transaction; see `getOrCreateByTags`. */
  async function getOrCreateIn(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    wanted: Input,
  ): Promise<GetOrCreateResult<Row>> {
    const found = await findIn(tx, actor, profile, wanted)
    if (found !== undefined) return { row: found, created: false }
    const row = kind.draft(actor, profile, wanted)
    await kind.insert(tx, row)
    return { row, created: true }
  }

  return {
    unknown,
    findVisible,
    requireVisible,
    getOrCreateIn,

    /** Creates an object, here or on the server of the named integration. */
    async create(actor: BotActor, input: Input, remember: Remember<Row>): Promise<Row> {
      const profile = await botProfiles.of(actor.botId)
      const creator = creatorOf(actor, profile, input.integrationName)
      if (creator !== undefined) {
        const made = await createRemotely(actor, profile, creator, input)
        await run(async (tx) => remember?.(tx, made))
        return made
      }
      const row = kind.draft(actor, profile, input)
      await run(async (tx) => {
        await kind.insert(tx, row)
        await remember?.(tx, row)
      })
      return row
    },

    /** The object with this id; an integration sees its own only. */
    async get(actor: BotActor, id: string): Promise<Row> {
      return await requireVisible(db, actor, id)
    },

    /** The object that the tags identify, with the other tags merged in; created if there is none. */
    async getOrCreateByTags(actor: BotActor, wanted: Input): Promise<GetOrCreateResult<Row>> {
      const profile = await botProfiles.of(actor.botId)
      const creator = creatorOf(actor, profile, wanted.integrationName)
      if (creator === undefined) return await run((tx) => getOrCreateIn(tx, actor, profile, wanted))
      const found = await run((tx) => findIn(tx, actor, profile, wanted))
      if (found !== undefined) return { row: found, created: false }
      return { row: await createRemotely(actor, profile, creator, wanted), created: true }
    },

    async update(actor: BotActor, id: string, changes: Changes): Promise<Row> {
      const profile = await botProfiles.of(actor.botId)
      return await run(async (tx) => {
        const row = await kind.lock(tx, actor.botId, id)
        if (row === undefined || !kind.isVisible(actor, row)) throw unknown(id)
        return await kind.patch(tx, actor, profile, row, changes)
      })
    },
  }
}
