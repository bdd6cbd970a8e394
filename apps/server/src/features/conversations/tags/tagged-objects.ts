import { ApiError } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import { type Maker, type Makers, makerOf } from '../../calls/makers/index.js'
import type { TagMatch } from './store.js'
import { tagMatchOf } from './tag-patch.js'

interface Stored {
  bot_id: string
  id: string
  /** Alias of the installation that it belongs to. */
  integration: string
}

/** An object to be found by its tags or made. */
interface TaggedInput {
  tags: Record<string, string | null>
  discriminateByTags?: string[]
  integrationName?: string
}

/** A row, and whether the call made it. */
export interface GetOrCreateResult<Row> {
  row: Row
  created: boolean
}

interface TaggedObjectsDeps {
  db: Db
  run: Run
  dialect: Dialect
  botProfiles: BotProfiles
  makers: Makers
}

/** What differs between users and conversations. */
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
  /** Stores what a patch changes. */
  patch(tx: Tx, actor: BotActor, profile: BotProfile, row: Row, changes: Changes): Promise<Row>
  /** What is merged into one that was there. */
  mergedInto(wanted: Input): Changes
  /** Body of the request to the integration that makes one. Throws unless it lets bots do so. */
  makerRequest(maker: Maker, wanted: Input): Parameters<Makers['make']>[2]
  /** What the integration does not store, and is written here when it has made one. */
  addedTo(wanted: Input): Changes
}

/**
 * What users and conversations have in common: they are found by tags, made here or by an integration, and
 * visible to their integration.
 */
export function taggedObjects<Row extends Stored, Input extends TaggedInput, Changes>(
  { db, run, dialect, botProfiles, makers }: TaggedObjectsDeps,
  kind: TaggedKind<Row, Input, Changes>,
) {
  const { noun } = kind

  const unknown = (id: string) =>
    new ApiError('ResourceNotFound', `There is no ${noun} ${id} in this bot.`)

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

  /** Has an integration make one of its own for the bot. */
  async function makeElsewhere(
    actor: BotActor,
    profile: BotProfile,
    maker: Maker,
    wanted: Input,
  ): Promise<Row> {
    const { botId } = actor
    const { alias } = maker
    const body = kind.makerRequest(maker, wanted)
    const id = await makers.make({ botId, alias }, `create_${noun}`, body)
    return await run(async (tx) => {
      const made = await kind.lock(tx, botId, id)
      if (made?.integration !== alias) {
        throw new ApiError('Runtime', `${alias} made no ${noun} ${id} in this bot.`)
      }
      return await kind.patch(tx, actor, profile, made, kind.addedTo(wanted))
    })
  }

  /** The one that the tags mean, with the other tags merged into it; undefined if there is none. */
  async function findIn(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    wanted: Input,
  ): Promise<Row | undefined> {
    const { botId } = actor
    const integration = kind.integrationOf(actor, profile, wanted)
    const match = tagMatchOf(aliasOf(actor), wanted.tags, wanted.discriminateByTags)
    // Locked before the lookup: of two that find nothing, the second looks after the first commit.
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

    /** Makes one, here or by the integration that is named. */
    async create(actor: BotActor, input: Input, remember: Remember<Row>): Promise<Row> {
      const profile = await botProfiles.of(actor.botId)
      const maker = makerOf(actor, profile, input.integrationName)
      if (maker !== undefined) {
        const made = await makeElsewhere(actor, profile, maker, input)
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

    /** The one with this native id; an integration sees its own. */
    async get(actor: BotActor, id: string): Promise<Row> {
      return await requireVisible(db, actor, id)
    },

    /** The one that the tags mean, with the other tags merged into it; made if there is none. */
    async getOrCreateByTags(actor: BotActor, wanted: Input): Promise<GetOrCreateResult<Row>> {
      const profile = await botProfiles.of(actor.botId)
      const maker = makerOf(actor, profile, wanted.integrationName)
      if (maker === undefined) return await run((tx) => getOrCreateIn(tx, actor, profile, wanted))
      const found = await run((tx) => findIn(tx, actor, profile, wanted))
      if (found !== undefined) return { row: found, created: false }
      return { row: await makeElsewhere(actor, profile, maker, wanted), created: true }
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
