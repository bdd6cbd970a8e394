import { ApiError, type Body, type contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import { recordAct } from '../../tenancy/audit/index.js'
import {
  type BotContent,
  type BotRecord,
  type BotsService,
  type BotTransfer,
  contentOf,
} from '../bots/index.js'
import type { DeploymentsService } from '../deployments/index.js'
import type { BotLogsService } from '../logs/index.js'
import * as store from './store.js'

/** A version, and whether its code is what the bot runs. */
export interface VersionRecord {
  version: store.VersionRow
  deployed: boolean
}

/** The code of a version. */
interface VersionCode {
  id: string
  code: string
}

export interface VersionsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  bots: Pick<BotsService, 'get' | 'lock' | 'restore' | 'requireIn' | 'workspaceOf'>
  deployments: Pick<
    DeploymentsService,
    'bundleOf' | 'codeIn' | 'sizeIn' | 'keep' | 'moveKept' | 'release'
  >
  botLogs: Pick<BotLogsService, 'writeLine'>
  limits: { botVersions: number }
}

/** Versions of bots: stored code and definitions, which can be deployed again. */
export function createVersionsService(deps: VersionsDeps) {
  return bound(deps, {
    list: listVersions,
    create: createVersion,
    deploy: deployVersion,
    require: requireVersion,
    remove: removeVersion,
    download: downloadVersion,
    purge: purgeVersions,
    move: moveVersions,
  })
}

async function listVersions(
  { db, bots, deployments }: VersionsDeps,
  actor: WorkspaceActor,
  botId: string,
): Promise<VersionRecord[]> {
  const { bot } = await bots.get(actor, botId)
  const { workspaceId } = actor
  const id = bot.url === null ? bot.deployment_id : null
  const current = id === null ? undefined : await deployments.bundleOf({ workspaceId, id })
  const versions = await store.listVersions(db, workspaceId, botId)
  return versions.map((version) => ({ version, deployed: version.bundle === current }))
}

async function createVersion(
  deps: VersionsDeps,
  actor: WorkspaceActor,
  botId: string,
  { name, description }: Body<typeof contract.botVersions.create>,
  remember: Remember<VersionRecord>,
): Promise<VersionRecord> {
  const { run, clock, ids, bots, deployments, limits } = deps
  const { workspaceId } = actor
  const maxVersions = limits.botVersions
  return await run(async (tx) => {
    // The lock keeps code, definition and number of versions from changing meanwhile.
    const record = await bots.lock(tx, actor, botId)
    const id = requireDeployed(record)
    if ((await store.countVersions(tx, botId)) >= maxVersions) {
      throw new ApiError(
        'LimitExceeded',
        `A bot may have ${maxVersions} versions (BOTSTEAD_MAX_BOT_VERSIONS): delete one with deleteBotVersion.`,
      )
    }
    const bundle = await deployments.bundleOf({ workspaceId, id }, tx)
    if (bundle === undefined) {
      throw new ApiError('Internal', `The code of the deployment ${id} is not there.`)
    }
    const version: store.VersionRow = {
      id: ids.next('botver'),
      bot_id: botId,
      workspace_id: workspaceId,
      name,
      description: description ?? null,
      bundle,
      code_size: await deployments.sizeIn(tx, workspaceId, bundle),
      created_at: isoTime(clock.now()),
    }
    await store.insertVersion(tx, { ...version, content: encodeJson(contentOf(record)) })
    await deployments.keep(tx, { workspaceId, bundle }, version.id)
    recordAct(deps, tx, actor, {
      resourceId: version.id,
      resourceName: name,
      changes: ofBot(botId),
    })
    const made = { version, deployed: true }
    await remember?.(tx, made)
    return made
  })
}

/** Id of the deployment in force of a bot; throws if its code does not run here. */
function requireDeployed({ bot }: BotRecord): string {
  if (bot.url === null && bot.deployment_id !== null) return bot.deployment_id
  const why =
    bot.url === null
      ? 'has no code that was deployed here'
      : 'is served at its url, and this server does not have the code there'
  throw new ApiError(
    'RelationConflict',
    `The bot ${bot.id} ${why}: deploy code (updateBot with code) before you create a version of it.`,
  )
}

async function deployVersion(
  deps: VersionsDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<void> {
  const { db, bots } = deps
  const { workspaceId } = actor
  await bots.requireIn(actor, botId)
  const version = await store.findVersion(db, { workspaceId, botId }, id)
  if (version === undefined) throw unknownVersion('ReferenceNotFound', id)
  const content = decodeJson<BotContent>(version.content)
  const code = await codeOf(deps, version)
  const record = await bots.restore(actor, botId, { code, content })
  await logDeployment(deps, record, version.name, content)
}

/** Writes into the log of a bot which version was deployed, and which integrations differ from those of then. */
async function logDeployment(
  { run, botLogs }: VersionsDeps,
  { bot, installations }: BotRecord,
  name: string,
  { integrations }: BotContent,
): Promise<void> {
  const differences = Object.entries(integrations).flatMap(([alias, then]) => {
    const now = installations.find((row) => row.alias === alias)
    if (now?.name === then.name && now.version === then.version) return []
    const is = now === undefined ? 'is not installed' : `is ${now.name} ${now.version}`
    return [`The integration ${alias} was ${then.name} ${then.version} then, and ${is} now.`]
  })
  await run(async (tx) => {
    const message = `The version "${name}" was deployed again.`
    await botLogs.writeLine(tx, { botId: bot.id, level: 'info', message })
    for (const difference of differences) {
      await botLogs.writeLine(tx, { botId: bot.id, level: 'warn', message: difference })
    }
  })
}

async function requireVersion(
  { db, bots }: VersionsDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<void> {
  const { workspaceId } = actor
  await bots.requireIn(actor, botId)
  const version = await store.findVersion(db, { workspaceId, botId }, id)
  if (version === undefined) throw unknownVersion('ResourceNotFound', id)
}

async function removeVersion(
  deps: VersionsDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<void> {
  const { run, bots, deployments } = deps
  const { workspaceId } = actor
  await bots.requireIn(actor, botId)
  const removed = await run(
    async (tx) => {
      if (!(await store.deleteVersion(tx, { workspaceId, botId }, id))) return false
      await deployments.release(tx, [id])
      recordAct(deps, tx, actor, { resourceId: id, changes: ofBot(botId) })
      return true
    },
    { mayUseReserve: true },
  )
  if (!removed) throw unknownVersion('ResourceNotFound', id)
}

/** The code at an address; the caller was allowed to read it when the address was signed. */
async function downloadVersion(deps: VersionsDeps, id: string): Promise<VersionCode> {
  const version = await store.findAddressedVersion(deps.db, id)
  // The versions of a deleted bot are deleted a moment after it.
  if (version === undefined || (await deps.bots.workspaceOf(version.bot_id)) === undefined) {
    throw unknownVersion('ResourceNotFound', id)
  }
  return { id, code: await codeOf(deps, version) }
}

async function codeOf(
  { deployments }: VersionsDeps,
  version: Pick<store.VersionRow, 'id' | 'workspace_id' | 'bundle'>,
): Promise<string> {
  const code = await deployments.codeIn(version.workspace_id, version.bundle)
  if (code !== undefined) return code
  throw new ApiError('Internal', `The code of the version ${version.id} is not there.`)
}

/** Moves the versions of a bot with it, and the bundles that they keep. */
async function moveVersions(
  { deployments }: VersionsDeps,
  tx: Tx,
  { botId, to }: BotTransfer,
): Promise<void> {
  await deployments.moveKept(tx, await store.moveVersions(tx, botId, to), to)
}

/** Deletes the rows of a deleted bot. */
async function purgeVersions({ run, deployments }: VersionsDeps, botId: string): Promise<void> {
  await purge(run, async (tx, limit) => {
    const gone = await store.deleteSomeOf(tx, botId, limit)
    await deployments.release(tx, gone)
    return gone.length
  })
}

function unknownVersion(type: 'ResourceNotFound' | 'ReferenceNotFound', id: string): ApiError {
  return new ApiError(type, `There is no version ${id} of this bot.`)
}

/** The bot of a version, in the audit log. */
function ofBot(botId: string) {
  return { botId: { to: botId } }
}
