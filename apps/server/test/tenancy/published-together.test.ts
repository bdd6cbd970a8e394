import { describe, expect, it, vi } from 'vitest'
import { dialectOf } from '../../src/platform/db/dialect.js'
import { describeSlow } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { addAccount, type Login } from '../tenant.js'
import { inDatabase } from './seed.js'
import { countWaiting, patientWithLocks } from './waiting.js'

type Existing = ReturnType<typeof existingClient>
type Call = () => Promise<unknown>

/** Something that one workspace publishes and another uses, and what both do with it at the same time. */
interface Published {
  id: string
  /** Uses it in the other workspace. */
  use: Call
  remove: Call
  hide: Call
  /** Whether everybody finds it in the hub. */
  isPublic: () => Promise<boolean>
  isUsed: () => Promise<boolean>
}

describeSlow('published things that are used, deleted and hidden at the same time', (engine) => {
  const server = useServer(engine, {}, patientWithLocks)
  let count = 0
  const client = (login: Login) =>
    existingClient(server(), { ...login, headers: { 'x-multiple-integrations': 'true' } })

  async function twoWorkspaces() {
    const [owner, other] = [await addAccount(server()), await addAccount(server())]
    return { owner: client(owner), other: client(other), name: `shared-${++count}` }
  }

  const found = (look: Promise<unknown>) =>
    look.then(
      () => true,
      (error) => {
        expect(error).toMatchObject({ type: 'ResourceNotFound' })
        return false
      },
    )

  const kinds = {
    integrations: async (): Promise<Published> => {
      const { owner, other, name } = await twoWorkspaces()
      const made = { name, version: '1.0.0', visibility: 'public' } as const
      const { id } = (await owner.createIntegration(made)).integration
      const { bot } = await other.createBot({})
      const integrations = { post: { integrationId: id, enabled: false } }
      return {
        id,
        use: () => other.updateBot({ id: bot.id, integrations }),
        remove: () => owner.deleteIntegration({ id }),
        hide: () => owner.updateIntegration({ id, visibility: 'private' }),
        isPublic: () => found(other.getPublicIntegrationById({ id })),
        isUsed: async () => 'post' in (await other.getBot({ id: bot.id })).bot.integrations,
      }
    },

    plugins: async (): Promise<Published> => {
      const { owner, other, name } = await twoWorkspaces()
      const code = { node: '', browser: '' }
      const made = { name, version: '1.0.0', visibility: 'public', code } as const
      const { id } = (await owner.createPlugin(made)).plugin
      const { bot } = await other.createBot({})
      return {
        id,
        use: () => other.updateBot({ id: bot.id, plugins: { part: { id } } }),
        remove: () => owner.deletePlugin({ id }),
        hide: () => owner.updatePlugin({ id, visibility: 'private' }),
        isPublic: () => found(other.getPublicPluginById({ id })),
        isUsed: async () => 'part' in (await other.getBot({ id: bot.id })).bot.plugins,
      }
    },

    interfaces: async (): Promise<Published> => {
      const { owner, other, name } = await twoWorkspaces()
      const made = { name, version: '1.0.0', public: true } as const
      const { id } = (await owner.createInterface(made)).interface
      const user = { name, version: '1.0.0', interfaces: { way: { id } } }
      return {
        id,
        use: () => other.createIntegration(user),
        remove: () => owner.deleteInterface({ id }),
        hide: () => owner.updateInterface({ id, public: false }),
        isPublic: () => found(other.getPublicInterfaceById({ id })),
        isUsed: () => found(other.getIntegrationByName({ name, version: 'latest' })),
      }
    },
  }

  /**
   * Makes two calls meet. On PostgreSQL, the row is held until the first and then the second waits for it;
   * transactions of SQLite run one after the other anyway.
   */
  async function meet(table: keyof typeof kinds, id: string, calls: readonly Call[]) {
    if (engine.name === 'sqlite') return await Promise.allSettled(calls.map((call) => call()))
    const outcomes: Promise<PromiseSettledResult<unknown>[]>[] = []
    await inDatabase(server(), async ({ run }) => {
      await run(async (tx) => {
        const row = tx.selectFrom(table).select('id').where('id', '=', id)
        await dialectOf(tx).lockRows(row).execute()
        for (const call of calls) {
          outcomes.push(Promise.allSettled([call()]))
          await vi.waitUntil(async () => (await countWaiting(tx)) === outcomes.length)
        }
      })
    })
    return (await Promise.all(outcomes)).flat()
  }

  const ways = (['integrations', 'plugins', 'interfaces'] as const).flatMap((kind) =>
    (['remove', 'hide'] as const).flatMap((way) =>
      (['use', way] as const).map((first) => ({ kind, way, first })),
    ),
  )

  it.each(ways)('$kind take either use or $way, with $first first', async (given) => {
    const { kind, way, first } = given
    const isUsedFirst = first === 'use'
    const published = await kinds[kind]()
    const calls = [published.use, published[way]]
    const outcomes = await meet(kind, published.id, isUsedFirst ? calls : calls.toReversed())
    const [use, loss] = isUsedFirst ? outcomes : outcomes.toReversed()
    const isUsed = use?.status === 'fulfilled'
    // PostgreSQL serves those who wait for a row in their order.
    if (engine.name === 'postgres') expect(isUsed).toBe(isUsedFirst)
    if (isUsed) {
      expect(loss).toMatchObject({ reason: { type: 'ReferenceConstraint' } })
    } else {
      expect(use).toMatchObject({ reason: { type: 'ReferenceNotFound' } })
      expect(loss).toMatchObject({ status: 'fulfilled' })
    }
    expect(await published.isUsed()).toBe(isUsed)
    expect(await published.isPublic()).toBe(isUsed)
  })

  describe('and installed in many bots at the same time', () => {
    it('count each installation once', async () => {
      const { owner, other, name } = await twoWorkspaces()
      const code = { node: '', browser: '' }
      const made = { name, version: '1.0.0', visibility: 'public' } as const
      const { integration } = await owner.createIntegration(made)
      const { plugin } = await owner.createPlugin({ ...made, code })
      const bots = await Promise.all([1, 2, 3, 4, 5].map(() => other.createBot({})))
      const updateAll = (body: Omit<Parameters<Existing['updateBot']>[0], 'id'>) =>
        Promise.all(bots.map(({ bot }) => other.updateBot({ ...body, id: bot.id })))
      const installs = async () => {
        const integrations = await other.listPublicIntegrations({ name })
        const plugins = await other.listPublicPlugins({ name })
        return [...integrations.integrations, ...plugins.plugins].map((each) =>
          Reflect.get(Reflect.get(each, 'meta'), 'installs'),
        )
      }
      const entry = { integrationId: integration.id, enabled: false }
      await updateAll({ integrations: { post: entry }, plugins: { part: { id: plugin.id } } })
      expect(await installs()).toEqual([5, 5])
      await updateAll({ integrations: { post: null }, plugins: { part: null } })
      expect(await installs()).toEqual([0, 0])
    })
  })
})
