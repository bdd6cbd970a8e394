import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { WorkflowsDeps } from './service.js'
import { findWorkflow } from './store.js'

/** Ids that a workflow refers to. */
export interface References {
  conversationId?: string | undefined
  userId?: string | undefined
  parentWorkflowId?: string | undefined
  eventId?: string | undefined
}

/** Throws `ReferenceNotFound` unless everything that is referred to is there for the caller to see. */
export function referencesOf({ events, requireAbout }: WorkflowsDeps) {
  return async (
    executor: Db | Tx,
    actor: BotActor,
    { parentWorkflowId, eventId, ...about }: References,
    place: 'body' | 'query',
  ): Promise<void> => {
    await requireAbout(executor, actor, about, place)
    const { botId } = actor
    if (parentWorkflowId && !(await findWorkflow(executor, botId, parentWorkflowId))) {
      throw unknown(place, 'parentWorkflowId', `there is no workflow ${parentWorkflowId}.`)
    }
    if (eventId && !(await events.find(executor, botId, eventId))) {
      throw unknown(place, 'eventId', `there is no event ${eventId}.`)
    }
  }
}

/** Throws unless whoever says that a workflow goes on says by which event. */
export function requireEventId(status: string | undefined, eventId: string | undefined): void {
  if (status !== 'in_progress' || eventId !== undefined) return
  throw new ApiError('InvalidPayload', 'body.eventId is required with the status in_progress.', {
    metadata: { in: 'body', field: 'eventId' },
  })
}

function unknown(place: string, field: string, message: string): ApiError {
  return new ApiError('ReferenceNotFound', `${place}.${field}: ${message}`, {
    metadata: { in: place, field },
  })
}
