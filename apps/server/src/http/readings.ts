import type { Operation } from '@botstead/contract'
import type { FastifyRequest } from 'fastify'
import type { NoteReading } from '../domain/readings.js'
import { callerAddress } from './caller-address.js'

/** Permissions whose operations return what others wrote. */
const contents: ReadonlySet<string> = new Set(['conversations:read', 'files:read', 'logs:read'])

/** Whether the audit log has the calls that people make of an operation to read. */
export function readsContent({ permission }: Operation): boolean {
  return permission !== undefined && contents.has(permission)
}

/** Records the reading of a person; undefined for programs, and where it was recorded a moment ago. */
export function noteReadingOf(
  note: NoteReading,
  { id, permission }: Operation,
  request: FastifyRequest,
): Promise<void> | undefined {
  const { actor } = request
  if (actor?.kind !== 'workspace' && actor?.kind !== 'bot') return undefined
  const person = actor.kind === 'workspace' ? actor : actor.person
  if (person === undefined) return undefined
  const { accountId, authority } = person
  const { tokenId, workspaceId } = actor
  const botId = actor.kind === 'bot' ? actor.botId : undefined
  return note({
    workspaceId,
    reader: { accountId, tokenId, authority },
    origin: { operation: id, address: callerAddress(request) },
    kind: permission?.split(':', 1)[0] ?? '',
    resourceId: subjectOf(request) ?? botId,
  })
}

/** Id of what is read, as the address names it. */
function subjectOf({ params, query }: FastifyRequest): string | undefined {
  const named: Record<string, unknown> = { ...Object(query), ...Object(params) }
  const { conversationId, id, idOrKey, botId } = named
  return [conversationId, id, idOrKey, botId].find((value) => typeof value === 'string')
}
