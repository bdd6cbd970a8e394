import { ApiError } from '@botstead/contract'
import type { Role } from './table.js'

export { findRole, insertMember, membershipsOf } from './store.js'
export type { Role } from './table.js'

/** Whether a member with this role may change the content of the workspace; all may read it. */
export function mayWrite(role: Role): boolean {
  return role !== 'viewer'
}

/** The error for a member whose role may not write. */
export function readsOnly(role: Role): ApiError {
  return new ApiError('Forbidden', `The role ${role} in this workspace may only read.`)
}

/** Whether a member of this role may delete the workspace with everything in it. */
export function mayDeleteWorkspace(role: Role): boolean {
  return role === 'owner'
}
