import { describe, expect, it } from 'vitest'
import { mayDeleteWorkspace, mayWrite, type Role } from './index.js'

describe('the roles of members', () => {
  const roles: Role[] = ['viewer', 'billing', 'developer', 'manager', 'administrator', 'owner']

  it('lets all but viewers write, and only owners delete', () => {
    expect(roles.filter(mayWrite)).toEqual(roles.slice(1))
    expect(roles.filter(mayDeleteWorkspace)).toEqual(['owner'])
  })
})
