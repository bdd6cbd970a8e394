import { ApiError } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { EventSubjects } from './service.js'

/** Whether something is there for the caller to see. */
type Exists = (executor: Db | Tx, actor: BotActor, id: string) => Promise<boolean>

/** How each thing that an event can be about is looked for. */
export type SubjectLookups = Record<keyof EventSubjects, Exists>

/** Ids of what is meant; undefined for nothing. */
export type Subjects = { [Field in keyof EventSubjects]?: string | undefined }

/** Throws `ReferenceNotFound` unless everything that an event says it is about is there. */
export async function requireSubjects(
  lookups: SubjectLookups,
  executor: Db | Tx,
  actor: BotActor,
  subjects: Subjects,
  place: 'body' | 'query' = 'body',
): Promise<void> {
  for (const field of ['conversationId', 'userId', 'messageId', 'workflowId'] as const) {
    const id = subjects[field]
    if (id === undefined || (await lookups[field](executor, actor, id))) continue
    throw new ApiError(
      'ReferenceNotFound',
      `${place}.${field}: there is no ${field.replace('Id', '')} ${id}.`,
      { metadata: { in: place, field } },
    )
  }
}
