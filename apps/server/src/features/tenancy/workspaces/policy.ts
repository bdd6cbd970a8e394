import { ApiError } from '@botstead/contract'

/** What a member is in a workspace. */
export type Role = 'viewer' | 'billing' | 'developer' | 'manager' | 'administrator' | 'owner'

/** Whether a member of this role may change what is in the workspace; all may read it. */
export function mayWrite(role: Role): boolean {
  return role !== 'viewer'
}

/** Why a member whose role may not write is refused. */
export function readsOnly(role: Role): ApiError {
  return new ApiError('Forbidden', `The role ${role} in this workspace may only read.`)
}

/** Whether a member of this role may delete the workspace with everything in it. */
export function mayDeleteWorkspace(role: Role): boolean {
  return role === 'owner'
}
