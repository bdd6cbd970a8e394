import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

const before = migrations.filter(({ name }) => name < '0130')

type Row = Record<string, string | number | null>

describeEachEngine('the upgrade of a server with rows that outlived their workspace', (engine) => {
  const database = useDatabase(engine, before)

  it('deletes them by one job for each workspace that is gone', async () => {
    const times = { created_at: 't', updated_at: 't' }
    const named = { name: 'mail', version: '1.0.0', definition: '{}', ...times }
    await database().run(async (tx) => {
      const old = tx.withTables<Record<string, Row>>()
      await old
        .insertInto('accounts')
        .values({ id: 'a', email: 'a@example.com', email_verified: 0, ...times })
        .execute()
      await old
        .insertInto('workspaces')
        .values({
          id: 'here',
          owner_id: 'a',
          name: 'Here',
          is_public: 0,
          spending_limit: 0,
          ...times,
        })
        .execute()
      const token = { kind: 'integration', note: '', created_at: 't' } as const
      await old
        .insertInto('access_tokens')
        .values(
          ['here', 'gone', 'other', null].map((workspace_id) => ({
            ...token,
            id: `key of ${workspace_id}`,
            hash: `hash of ${workspace_id}`,
            workspace_id,
          })),
        )
        .execute()
      await old
        .insertInto('interfaces')
        .values(
          ['here', 'gone'].map((workspace_id) => ({
            ...named,
            id: `list of ${workspace_id}`,
            workspace_id,
            title: '',
            description: '',
            icon: '',
            readme: '',
            visibility: 'private',
          })),
        )
        .execute()
    })
    await migrate(database(), migrations)
    const jobs = await database().db.selectFrom('jobs').select(['kind', 'payload']).execute()
    expect(jobs.map(({ payload }) => JSON.parse(payload).workspaceId).sort()).toEqual([
      'gone',
      'other',
    ])
    expect(new Set(jobs.map(({ kind }) => kind))).toEqual(new Set(['workspaces.leftovers']))
  })
})
