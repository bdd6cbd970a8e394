import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addViewer } from '../../../../test/tenant.js'

describeSlow('preferences', (engine) => {
  const server = useServer(engine)
  const client = () => existingClient(server())

  it('keep any JSON value for the caller, until it is removed', async () => {
    expect(await client().getAccountPreference({ key: 'tour' })).toEqual({})
    for (const value of [{ done: true, steps: [1, 'ä\u0000'] }, 'de', 0, false, null, []]) {
      await client().setAccountPreference({ key: 'tour', value })
      expect(await client().getAccountPreference({ key: 'tour' })).toEqual({ value })
    }
    await client().setAccountPreference({ key: 'tour' })
    expect(await client().getAccountPreference({ key: 'tour' })).toEqual({})
  })

  it('of a workspace are those of all its members, and of nobody else', async () => {
    await client().setWorkspacePreference({ key: 'colour/a b', value: 'red' })
    expect(await client().getWorkspacePreference({ key: 'colour/a b' })).toEqual({ value: 'red' })
    expect(await client().getAccountPreference({ key: 'colour/a b' })).toEqual({})
    const viewer = server().client(await addViewer(server(), server().workspaceId))
    expect(await viewer.getWorkspacePreference({ key: 'colour/a b' })).toEqual({ value: 'red' })
    await expect(
      viewer.setWorkspacePreference({ key: 'colour/a b', value: 'blue' }),
    ).rejects.toMatchObject({ type: 'Forbidden' })
    await viewer.setAccountPreference({ key: 'colour', value: 'blue' })
    expect(await client().getAccountPreference({ key: 'colour' })).toEqual({})
  })

  it('are gone with their workspace', async () => {
    const { id } = await client().createWorkspace({ name: 'Short' })
    const inside = existingClient(server(), { workspaceId: id })
    await inside.setWorkspacePreference({ key: 'a', value: 1 })
    await inside.deleteWorkspace({ id })
    await expect(inside.getWorkspacePreference({ key: 'a' })).rejects.toMatchObject({
      type: 'Unauthorized',
    })
  })

  it('are bounded in size and number', async () => {
    await expect(
      client().setAccountPreference({ key: 'large', value: 'ä'.repeat(8192) }),
    ).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: 'body.value must have at most 16384 bytes as JSON.',
    })
    const { id } = await client().createWorkspace({ name: 'Many' })
    const inside = server().client({ workspaceId: id })
    for (let at = 0; at < 199; at++)
      await inside.setWorkspacePreference({ key: `k${at}`, value: at })
    // One of many at the same time is the last.
    const last = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) =>
        inside.setWorkspacePreference({ key: `last${at}`, value: at }),
      ),
    )
    expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await inside.setWorkspacePreference({ key: 'k0', value: 'changed' })
    await expect(inside.setWorkspacePreference({ key: 'one', value: 1 })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
  })
})
