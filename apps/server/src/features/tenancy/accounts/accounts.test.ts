import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { createSlices, type Slices } from '../../../../test/slices.js'

describeEachEngine('accounts', (engine) => {
  const database = useDatabase(engine)
  let tenants: Slices

  beforeAll(async () => {
    tenants = await createSlices(database())
  })

  it('change only given members, and only of the caller', async () => {
    const ann = await tenants.person()
    const bob = await tenants.person()
    await tenants.accounts.update(ann.account, { displayName: 'Ann' })
    tenants.clock.advance(1000)
    const changed = await tenants.accounts.update(ann.account, { profilePicture: 'http://a/b.png' })
    expect(changed).toMatchObject({ display_name: 'Ann', profile_picture: 'http://a/b.png' })
    expect(await tenants.accounts.get(ann.account)).toEqual(changed)
    expect(changed.updated_at > changed.created_at).toBe(true)
    expect(await tenants.accounts.get(bob.account)).toMatchObject({
      display_name: null,
      profile_picture: null,
    })
  })

  it('that were deleted are refused', async () => {
    const ann = await tenants.person()
    const gone = { ...ann.account, accountId: tenants.ids.next('accnt') }
    await expect(tenants.accounts.get(gone)).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(tenants.accounts.update(gone, {})).rejects.toMatchObject({ type: 'Unauthorized' })
  })
})
