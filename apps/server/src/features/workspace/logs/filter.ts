import { ApiError, type contract, type Query } from '@botstead/contract'
import {
  type LogReader,
  type LogSelection,
  logLevels,
  logSources,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import { noReference } from '../../../domain/refusals.js'
import { type BotScope, reaches } from '../../../domain/rights.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'

/** Conditions on the lines, without those on time. */
export type LogFilter = Omit<
  Query<typeof contract.logs.list>,
  'since' | 'until' | 'nextToken' | 'pageSize'
>

export interface FilterDeps {
  /** Read the logs of a workspace. */
  readers: readonly LogReader[]
  bots: Pick<BotsService, 'requireIn' | 'idsIn'>
  integrations: Pick<IntegrationsService, 'requireIn' | 'idsIn' | 'installationsIn'>
}

/** A filter, ready to be applied: the lines to read, and the test of each. */
export interface PreparedFilter {
  selection: LogSelection
  /** Whether a line that was read is one of the workspace and passes the filter. */
  matches(line: WorkspaceLogLine): boolean
  /** Whether a line of the workspace passes the filter, and is about no bot that the caller may not see. */
  passes(line: WorkspaceLogLine): boolean
  /** Whether counting the selection counts exactly the lines that match. */
  isCountable: boolean
}

/** Makes the function that prepares filters. It throws `ReferenceNotFound` for a foreign bot or integration. */
export function createPrepare({ bots, integrations }: FilterDeps) {
  async function requireBot(actor: BotScope, botId: string): Promise<void> {
    await bots.requireIn(actor, botId).catch((cause: unknown) => {
      if (!(cause instanceof ApiError)) throw cause
      throw noReference('query.botId', 'bot', botId, 'in this workspace')
    })
  }

  return async function prepare(actor: BotScope, filter: LogFilter): Promise<PreparedFilter> {
    const { botId, integrationId, source, userId, workflowId, conversationId } = filter
    if (botId !== undefined) await requireBot(actor, botId)
    if (integrationId !== undefined) {
      await integrations.requireIn(actor, integrationId, 'query.integrationId')
    }
    const installed =
      integrationId === undefined
        ? []
        : await integrations.installationsIn(actor.workspaceId, integrationId)
    const called = new Set(installed.map(({ bot_id, alias }) => `${bot_id}/${alias}`))
    const botIds = botId === undefined ? await bots.idsIn(actor) : [botId]
    const calledBots = new Set(installed.map(({ bot_id }) => bot_id))
    const selection: LogSelection = {
      workspaceId: actor.workspaceId,
      botIds: integrationId === undefined ? botIds : botIds.filter((id) => calledBots.has(id)),
      integrationIds:
        integrationId === undefined ? await integrations.idsIn(actor.workspaceId) : [integrationId],
      botId,
      integrationId,
      sources: new Set(source === undefined ? logSources : [source]),
      levels: levelsOf(filter),
      userId,
      workflowId,
      conversationId,
    }
    const own = new Set(botIds)
    const developed = new Set(selection.integrationIds)
    const text = filter.text?.toLowerCase()
    const passes = (line: WorkspaceLogLine) =>
      reaches(actor.rights, line.botId) &&
      selection.levels.has(line.level) &&
      (source === undefined || line.source === source) &&
      (botId === undefined || line.botId === botId) &&
      (userId === undefined || line.userId === userId) &&
      (workflowId === undefined || line.workflowId === workflowId) &&
      (conversationId === undefined || line.conversationId === conversationId) &&
      (integrationId === undefined ||
        line.integrationId === integrationId ||
        called.has(`${line.botId}/${line.integrationAlias}`)) &&
      (text === undefined || line.message.toLowerCase().includes(text))
    const isPlain = [text, userId, workflowId, conversationId].every((each) => each === undefined)
    return {
      selection,
      passes,
      // Lines of integrations are for their developers, and stay when their bot is deleted.
      matches: (line) =>
        (line.source === 'integration'
          ? line.integrationId !== null && developed.has(line.integrationId)
          : own.has(line.botId)) && passes(line),
      isCountable:
        isPlain &&
        integrationId === undefined &&
        (botId !== undefined || actor.rights.bots.kind === 'all'),
    }
  }
}

/** The levels that a filter leaves. */
function levelsOf({ level, minLevel = 'debug' }: LogFilter): LogSelection['levels'] {
  const severe = logLevels.slice(logLevels.indexOf(minLevel))
  return new Set(level === undefined ? severe : severe.filter((each) => each === level))
}
