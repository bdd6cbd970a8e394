import type { AccountActor, WorkspaceActor } from '../src/domain/actor.js'
import { noLimits, rightsOf } from '../src/domain/rights.js'

const authority = { kind: 'token', note: '' } as const

/** A person as they call outside of any workspace. */
export function person(accountId: string, tokenId = 'none'): AccountActor {
  return { kind: 'account', accountId, tokenId, authority, limits: noLimits }
}

/** An owner of a workspace, as they call in it. */
export function ownerOf(workspaceId: string, accountId = 'none', tokenId = 'none'): WorkspaceActor {
  const rights = rightsOf('owner')
  const permission = 'workspace:read'
  return { kind: 'workspace', accountId, tokenId, authority, workspaceId, rights, permission }
}
