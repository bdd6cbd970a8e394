import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import type { BotActor } from '../../platform/actor.js'
import type { Db, Schema, Tx } from '../../schema.js'
import { matchesTags, type TagCondition } from './tag-filter.js'

/** What a caller may see of the files of a bot. */
export interface FileScope {
  botId: string
  /** Set for an integration: it sees its own files and those shared with integrations. */
  integrationId: string | undefined
  /** ISO 8601; files that have expired by then are gone, swept or not. */
  now: string
}

export function scopeOf(actor: BotActor, now: string): FileScope {
  return {
    botId: actor.botId,
    integrationId: actor.caller.type === 'integration' ? actor.caller.id : undefined,
    now,
  }
}

/** Whether a row of `files` is there for the caller. */
export function isVisible(
  eb: ExpressionBuilder<Schema, 'files'>,
  scope: FileScope,
): ExpressionWrapper<Schema, 'files', SqlBool> {
  const { integrationId } = scope
  return eb.and([
    eb('files.bot_id', '=', scope.botId),
    eb.or([eb('files.expires_at', 'is', null), eb('files.expires_at', '>', scope.now)]),
    ...(integrationId === undefined
      ? []
      : [eb.or([eb('files.key_space', '=', integrationId), eb('files.shared', '=', 1)])]),
  ])
}

/**
 * The files whose passages a caller may find, with the generation of those passages: a part of the
 * query of search, so that what may be seen is decided here and in the same statement.
 */
export function searchableFiles(
  executor: Db | Tx,
  scope: FileScope,
  conditions: readonly TagCondition[],
) {
  const { integrationId } = scope
  return executor
    .selectFrom('files')
    .select(['files.id as file_id', 'files.passages_generation as generation'])
    .where('files.passages_generation', 'is not', null)
    .where((eb) => isVisible(eb, scope))
    .where((eb) => matchesTags(eb, scope.botId, conditions))
    .$if(integrationId !== undefined, (query) =>
      // The passages must have been meant for integrations too, not only what follows them.
      query.where((eb) =>
        eb.or([
          eb('files.key_space', '=', integrationId ?? ''),
          eb('files.passages_shared', '=', 1),
        ]),
      ),
    )
}
