import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { existingClient } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { addAccount } from '../../../../test/tenant.js'

describeEachEngine('the name of a published integration', (engine) => {
  const server = useServer(engine)
  const taken = { type: 'AlreadyExists' }
  let count = 0
  const newName = () => `post-${++count}`

  /** A client of a workspace of its own. */
  async function someone() {
    const login = await addAccount(server())
    return { ...login, client: existingClient(server(), login) }
  }

  it('belongs to who published it first, and that of the chat to the server', async () => {
    const name = newName()
    const { client: first } = await someone()
    await first.createIntegration({ name, version: '1.0.0', visibility: 'public' })
    const { client: other } = await someone()
    const squatting = { name, version: '9.0.0', visibility: 'unlisted' } as const
    await expect(other.createIntegration(squatting)).rejects.toMatchObject(taken)
    const { integration } = await other.createIntegration({ name, version: '9.0.0' })
    const publishing = other.updateIntegration({ id: integration.id, public: true })
    await expect(publishing).rejects.toMatchObject(taken)
    const chat = other.createIntegration({ name: 'chat', version: '9.0.0', public: true })
    await expect(chat).rejects.toMatchObject(taken)
    const found = await other.getPublicIntegration({ name, version: 'latest' })
    expect(found.integration.version).toBe('1.0.0')
  })

  it('is checked by validations too', async () => {
    const name = newName()
    const { client: first } = await someone()
    await first.createIntegration({ name, version: '1.0.0', visibility: 'public' })
    const { client: other } = await someone()
    const squatting = { name, version: '9.0.0', visibility: 'public' } as const
    await expect(other.validateIntegrationCreation(squatting)).rejects.toMatchObject(taken)
    const { integration } = await other.createIntegration({ name, version: '9.0.0' })
    const { id } = integration
    const validation = other.validateIntegrationUpdate({ id, visibility: 'public' })
    await expect(validation).rejects.toMatchObject(taken)
    await other.validateIntegrationUpdate({ id, title: 'Post' })
    expect((await other.getIntegration({ id })).integration.title).toBe('')
  })

  it('may be that of an integration in development elsewhere, which nobody else can use', async () => {
    const name = newName()
    const { client: first } = await someone()
    await first.createIntegration({ name, version: '1.0.0', visibility: 'public' })
    const { client: other } = await someone()
    const { integration } = await other.createIntegration({
      name,
      version: '9.0.0',
      visibility: 'public',
      dev: true,
    })
    await other.updateIntegration({ id: integration.id, visibility: 'private' })
    await other.updateIntegration({ id: integration.id, visibility: 'public' })
    const { integration: found } = await first.getPublicIntegration({ name, version: 'latest' })
    expect(found.version).toBe('1.0.0')
  })
})

describeEachEngine('what is named with a handle', (engine) => {
  const server = useServer(engine)

  it('is published by the workspace that has the handle now', async () => {
    const former = await addAccount(server())
    const current = await addAccount(server())
    const ours = server().client(former)
    const theirs = server().client(current)
    const name = 'maker/post'
    await ours.updateWorkspace({ id: former.workspaceId, handle: 'maker' })
    const about = { name, version: '1.0.0' }
    const code = { node: '', browser: '' }
    const integration = (await ours.createIntegration(about)).integration
    const { interface: made } = await ours.createInterface(about)
    const { plugin } = await ours.createPlugin({ ...about, code })
    await ours.updateWorkspace({ id: former.workspaceId, handle: 'maker-of-old' })
    await theirs.updateWorkspace({ id: current.workspaceId, handle: 'maker' })
    const foreign = { type: 'Forbidden', message: expect.stringContaining('maker-of-old') }
    for (const publishing of [
      () => ours.updateIntegration({ id: integration.id, visibility: 'public' }),
      () => ours.updateInterface({ id: made.id, public: true }),
      () => ours.updatePlugin({ id: plugin.id, visibility: 'public' }),
    ]) {
      await expect(publishing()).rejects.toMatchObject(foreign)
    }
    await theirs.createIntegration({ ...about, visibility: 'public' })
  })
})
