import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

const before = migrations.filter(({ name }) => name < '0070')

type Row = Record<string, string | number | null>

const scripts = JSON.stringify({ identifier: { extractScript: '.a' } })

function toIntegration(id: string, workspace_id: string, name: string, definition = scripts): Row {
  return {
    id,
    workspace_id,
    name,
    version: '1.0.0',
    dev: 0,
    title: '',
    description: '',
    icon: '',
    readme: '',
    visibility: 'private',
    definition,
    secrets: '{}',
    signing_secret: '',
    installs: 0,
    created_at: id,
    updated_at: id,
  }
}

const installation: Row = {
  bot_id: 'bot',
  alias: 'pages',
  workspace_id: 'a',
  integration_id: '2',
  name: 'pages',
  version: '1.0.0',
  webhook_id: 'hook',
  enabled: 1,
  configuration: '',
  disabled_channels: '[]',
  status: 'registered',
  identifier: 'P1',
  created_at: 'then',
  updated_at: 'now',
}

describeEachEngine('integrations that are there when a server is upgraded', (engine) => {
  const database = useDatabase(engine, before)

  it('get the addresses of their names, the oldest first, and their accounts a time', async () => {
    await database().run(async (tx) => {
      const old = tx.withTables<{ integrations: Row; installations: Row }>()
      await old
        .insertInto('integrations')
        .values([
          toIntegration('1', 'b', 'pages', '{}'),
          toIntegration('2', 'a', 'pages'),
          toIntegration('3', 'b', 'bee/pages'),
          toIntegration('4', 'b', 'bee/forms'),
        ])
        .execute()
      await old.insertInto('installations').values(installation).execute()
    })
    await migrate(database(), migrations)
    const { db } = database()
    const rows = await db
      .selectFrom('shared_addresses')
      .select(['address', 'workspace_id', 'name'])
      .orderBy('address')
      .execute()
    expect(rows.map((row) => [row.address, row.workspace_id, row.name]).toSorted()).toEqual([
      ['bee/forms', 'b', 'bee/forms'],
      ['bee/pages', 'b', 'bee/pages'],
      ['forms', 'b', 'bee/forms'],
      ['pages', 'a', 'pages'],
    ])
    const identified = db.selectFrom('installations').select(['identifier', 'identified_at'])
    expect(await identified.execute()).toEqual([{ identifier: 'P1', identified_at: 'then' }])
  })
})
