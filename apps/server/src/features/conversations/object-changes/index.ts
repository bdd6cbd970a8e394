import { aliasOf, type BotActor } from '../../../domain/actor.js'
import type { NeededSubjects } from '../../../domain/deliveries.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { Feature } from '../../feature.js'
import * as store from './store.js'

export { type ChangeRow, listChangeIds, listChangesIn } from './store.js'

/** A change of an object. */
interface Changed {
  kind: 'message_updated' | 'conversation_updated'
  /** Alias of the installation that the conversation belongs to. */
  integration: string
  conversationId: string
  objectId: string
  /** The object before and after the change, as the integration with the alias sees it. */
  view: (alias: string) => { before: object; after: object }
}

/** A change of an object as the integration sees it. */
interface Change {
  id: string
  objectId: string
  before: Record<string, unknown>
  after: Record<string, unknown>
}

export interface ChangesDeps {
  run: Run
  clock: Clock
  ids: Ids
  domainEvents: Pick<EventDispatcher, 'raise'>
}

/** Changes of messages and conversations of which integrations are notified. */
export interface Changes extends Feature {
  /**
   * Notifies an integration of a change, in the transaction of the change, if its definition
   * requests it in `extraOperations`; not of its own changes, because it would react to itself
   * forever.
   */
  record(tx: Tx, actor: BotActor, profile: BotProfile, changed: Changed): Promise<void>
  /** The given changes that still exist. */
  findAll(executor: Db | Tx, botId: string, ids: readonly string[]): Promise<Change[]>
  /** Deletes some changes from before an ISO 8601 time, except for `needed`; returns how many. */
  trim(tx: Tx, before: string, limit: number, needed: NeededSubjects): Promise<number>
}

/** Makes the feature that records object changes and raises a domain event for the delivery of each. */
export function createChanges({ run, clock, ids, domainEvents }: ChangesDeps): Changes {
  return {
    name: 'object-changes',

    async record(tx, actor, profile, changed) {
      const { kind, integration, conversationId, objectId } = changed
      const wanted = profile.installationOf(integration)?.declares?.extraOperations[kind]?.enabled
      if (!wanted || !profile.delivers(integration) || aliasOf(actor) === integration) return
      const { botId } = actor
      const id = ids.next('activty')
      const { before, after } = changed.view(integration)
      await store.insertChange(tx, {
        id,
        bot_id: botId,
        object_id: objectId,
        before: encodeJson(before),
        after: encodeJson(after),
        created_at: isoTime(clock.now()),
      })
      await domainEvents.raise(tx, 'delivery.requested', {
        botId,
        integration,
        kind,
        subjectId: id,
        orderingKey: conversationId,
      })
    },

    async findAll(executor, botId, ids) {
      const rows = await store.listChanges(executor, botId, ids)
      return rows.map(({ id, object_id: objectId, before, after }) => ({
        id,
        objectId,
        before: decodeJson(before),
        after: decodeJson(after),
      }))
    },

    trim: store.deleteOld,

    async purge(botId) {
      await purge(run, (tx, limit) => store.deleteSomeOf(tx, botId, limit))
    },
  }
}
