import { type LogReader, logLevels, type WorkspaceLogLine } from '../../../domain/log-lines.js'
import { type BotScope, reaches } from '../../../domain/rights.js'
import type { Db } from '../../../platform/db/schema.js'
import { groupBy } from '../../../platform/group-by.js'
import type { BotsService } from '../../bots/bots/index.js'
import { listInstallationStates } from '../../bots/installations/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import type { Targets } from '../../calls/targets/index.js'
import { countConversations } from '../../conversations/conversations/index.js'
import { listLastMessageTimes } from '../../conversations/messages/index.js'
import {
  listFailed,
  listReceivers,
  listSuccesses,
  listWaiting,
  type ReceiverState,
} from '../../deliveries/index.js'
import { countFiles, listFailedFiles } from '../../files/index.js'
import { endless, scanLines } from '../logs/index.js'
import { isGivenUp, ofDelivery, ofFile, ofLine, resolvedIn } from './errors.js'
import { listResolved } from './store.js'
import { receiverOf } from './succession.js'

export interface FactsDeps {
  db: Db
  /** Read the logs of a workspace. */
  readers: readonly LogReader[]
  bots: Pick<BotsService, 'reachIn' | 'countByWorkspace' | 'hold'>
  integrations: Pick<IntegrationsService, 'idsIn'>
  targets: Pick<Targets, 'of'>
}

/** The scope of an overview: the bots of a workspace that a caller may see, or one of them. */
export interface Scope extends BotScope {
  botId?: string | undefined
}

/** Maximum of a count; more objects are not counted. */
export const maxCounted = 1000
/** Maximum number of bots that are looked at. */
const maxBots = 1000
/** Errors that are read: failed deliveries of one receiver, failed files, and lines of logs. */
const maxRead = { deliveries: 500, files: 2000, lines: 10_000 }

/** The facts from which an overview is made. */
export type Facts = Awaited<ReturnType<typeof readFacts>>

/**
 * Reads the facts for the overview of a workspace, or of one bot, without errors that were resolved.
 * @param since ISO 8601 time from which errors and messages count
 */
export async function readFacts(deps: FactsDeps, scope: Scope, since: string) {
  const { workspaceId } = scope
  const { db, bots, integrations } = deps
  const [rows, integrationIds] = await Promise.all([
    bots.reachIn(scope, maxBots),
    integrations.idsIn(workspaceId),
  ])
  const botIds = rows.map(({ id }) => id)
  const installations = await listInstallationStates(db, botIds)
  const receivers = [
    ...botIds.map((bot_id) => ({ bot_id, integration: '' })),
    ...installations.map(({ bot_id, alias }) => ({ bot_id, integration: alias })),
  ]
  const [states, waiting, failed, successes, files, failedFiles, logs, resolved] =
    await Promise.all([
      listReceivers(db, botIds),
      listWaiting(db, receivers, maxCounted),
      listFailed(db, receivers, since, maxRead.deliveries),
      listSuccesses(db, receivers),
      countFiles(db, botIds, maxCounted),
      listFailedFiles(db, botIds, maxRead.files),
      readErrorLines(deps, { ...scope, botIds, integrationIds, since }),
      listResolved(db, workspaceId),
    ])
  const [lastMessages, conversations, counted, hosted] = await Promise.all([
    listLastMessageTimes(db, botIds, since),
    countConversations(db, botIds, maxCounted),
    bots.countByWorkspace([workspaceId]),
    findHosted(deps, states),
  ])
  const isResolved = resolvedIn(resolved)
  return {
    bots: rows,
    installations,
    /** Receivers that failed lately, or are paused. */
    states,
    waiting,
    files,
    conversations,
    /** ISO 8601 times of the last messages, by the ids of bots. */
    lastMessages,
    /** Start of the last attempt that a receiver accepted, ISO 8601, by receiver. */
    successes: new Map(successes.map((row) => [receiverOf(row), row.began])),
    hosted,
    botCount: scope.rights.bots.kind === 'all' ? (counted.get(workspaceId) ?? 0) : rows.length,
    integrationCount: integrationIds.length,
    failed: failed.filter((row) => !isResolved(ofDelivery(row))),
    failedFiles: failedFiles.filter((row) => !isResolved(ofFile(row))),
    lines: logs.lines.filter((line) => !isResolved(ofLine(line))),
    /** Whether all errors were read, including those that were resolved. */
    isComplete:
      logs.isAll &&
      failedFiles.length < maxRead.files &&
      [...groupBy(failed, receiverOf).values()].every(({ length }) => length < maxRead.deliveries),
  }
}

interface LinesOf extends Scope {
  botIds: string[]
  integrationIds: string[]
  since: string
}

/** The lines of errors in the logs of these bots and integrations: the newest. */
async function readErrorLines(
  { db, readers }: Pick<FactsDeps, 'db' | 'readers'>,
  { workspaceId, rights, botId, botIds, integrationIds, since }: LinesOf,
): Promise<{ lines: WorkspaceLogLine[]; isAll: boolean }> {
  const lines: WorkspaceLogLine[] = []
  const own = new Set(botIds)
  const developed = new Set(integrationIds)
  const reached = await scanLines(db, readers, {
    selection: {
      workspaceId,
      botIds,
      integrationIds,
      botId,
      integrationId: undefined,
      sources: new Set(['bot', 'integration']),
      levels: new Set(logLevels.filter((level) => level === 'error')),
      userId: undefined,
      workflowId: undefined,
      conversationId: undefined,
    },
    period: { since, before: endless },
    after: undefined,
    budget: maxRead.lines,
    take: (line) => {
      const { integrationId: id } = line
      const isOwn = id === null ? own.has(line.botId) : developed.has(id)
      if (isOwn && reaches(rights, line.botId) && !isGivenUp(line)) {
        lines.push(line)
      }
      return true
    },
  })
  return { lines, isAll: reached === undefined }
}

/** Aliases of the receivers that fail and whose code is deployed here, by the ids of their bots. */
async function findHosted(
  { targets }: Pick<FactsDeps, 'targets'>,
  states: readonly ReceiverState[],
): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const { bot_id: botId, integration } of states) {
    if (integration === '') continue
    const target = await targets.of({ botId, integration })
    if (target === undefined || 'url' in target.at) continue
    found.set(botId, (found.get(botId) ?? new Set()).add(integration))
  }
  return found
}
