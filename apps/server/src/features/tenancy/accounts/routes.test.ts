import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'

describeEachEngine('the account of the caller', (engine) => {
  const server = useServer(engine)

  it('is created by the first start, needs no workspace and can be changed', async () => {
    const client = server().client({ workspaceId: undefined })
    const { account } = await client.getAccount()
    expect(account.id).toMatch(/^accnt_[0-9A-Z]{26}$/)
    expect(account).toMatchObject({ email: 'admin@localhost', emailVerified: false })
    expect(account.profilePicture).toBeUndefined()
    const changed = await client.updateAccount({ displayName: 'Ann', refresh: true })
    expect(changed.account).toEqual({ ...account, displayName: 'Ann' })
    expect(await client.getAccount()).toEqual(changed)
  })
})
