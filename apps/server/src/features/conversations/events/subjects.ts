import type { BotActor } from '../../../domain/actor.js'
import type { Ports } from '../../../domain/ports.js'
import { noReference } from '../../../domain/refusals.js'
import type { Db, Tx } from '../../../platform/db/schema.js'

/** Ids of the objects that an event, a state or an observation refers to; undefined members name none. */
export interface Subjects {
  conversationId?: string | undefined
  userId?: string | undefined
  messageId?: string | undefined
  workflowId?: string | undefined
}

/** Whether an object exists and is visible to the caller. */
type Exists = (executor: Db | Tx, actor: BotActor, id: string) => Promise<boolean>

const fields = ['conversationId', 'userId', 'messageId', 'workflowId'] as const

/** Looks up the subjects of events in the slices that own them, which are built later. */
export function createSubjects(ports: Pick<Ports, 'open'>) {
  /** For each kind of subject, whether the slice that owns it has one. */
  const subjects = {
    conversationId: ports.open<Exists>('events: conversations'),
    userId: ports.open<Exists>('events: users'),
    messageId: ports.open<Exists>('events: messages as subjects'),
    workflowId: ports.open<Exists>('events: workflows'),
  }

  async function subjectExists(
    executor: Db | Tx,
    actor: BotActor,
    field: keyof Subjects,
    id: string,
  ): Promise<boolean> {
    return await subjects[field].call(executor, actor, id)
  }

  /**
   * Throws `ReferenceNotFound` unless all subjects exist and are visible to the caller.
   * @param where part of the request that contains the ids, for the error
   */
  async function requireSubjects(
    executor: Db | Tx,
    actor: BotActor,
    subjects: Subjects,
    where: 'body' | 'query',
  ): Promise<void> {
    for (const field of fields) {
      const id = subjects[field]
      if (id === undefined || (await subjectExists(executor, actor, field, id))) continue
      throw noReference(`${where}.${field}`, field.replace('Id', ''), id)
    }
  }

  return { subjects, subjectExists, requireSubjects }
}
