import type { Request } from '../request.js'
import type { Tenant } from '../tenant.js'

/** An operation as one tenant calls it, and what becomes of it with the ids of another tenant. */
export interface Example {
  /** The call without its credentials. */
  request(tenant: Tenant): Omit<Request, 'headers'>
  /** Headers of the operation itself. */
  headers?: Record<string, string>
  /** Type of the refusal of foreign ids; `own` when it names none and acts on the caller's things. */
  foreign:
    | 'ResourceNotFound'
    | 'ReferenceNotFound'
    | 'Forbidden'
    | 'Unauthorized'
    | 'InvalidPayload'
    | 'own'
}

/** Acts on what is the caller's. */
export const own = (request: Example['request'] = () => ({})): Example => ({
  request,
  foreign: 'own',
})
/** Names one thing by its id. */
export const byId = (pick: (tenant: Tenant) => string, body?: object): Example => ({
  request: (tenant) => ({ params: { id: pick(tenant) }, ...(body && { body }) }),
  foreign: 'ResourceNotFound',
})
/** At the chat address of the tenant. */
export const atChat = (more: (tenant: Tenant) => Omit<Request, 'headers'> = () => ({})) =>
  own((tenant) => {
    const { params, ...rest } = more(tenant)
    return { params: { webhookId: tenant.webhookId, ...params }, ...rest }
  })
/** The same, about something in it. */
export const atForeignChat = (
  foreign: Example['foreign'],
  more: (tenant: Tenant) => Omit<Request, 'headers'>,
): Example => ({ ...atChat(more), foreign })

/** Examples by the ids of their operations. */
export type Examples = Readonly<Record<string, Example>>
