import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

const before = migrations.filter(({ name }) => name < '0059')
const chat = '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11'

describeEachEngine('installations that are there when a server is upgraded', (engine) => {
  const database = useDatabase(engine, before)

  it('get the workspace of their bot, and the chat its new version', async () => {
    await database().run(async (tx) => {
      const old = tx.withTables<{ installations: Row; bots: Row }>()
      await old.insertInto('bots').values(bot).execute()
      await old
        .insertInto('installations')
        .values([
          toInstallation('one', 'chat', chat, '0.7.6'),
          toInstallation('one', 'mail', 'int', '0.7.6'),
          toInstallation('gone', 'chat', chat, '0.7.6'),
        ])
        .execute()
    })
    await migrate(database(), migrations)
    const columns = ['bot_id', 'alias', 'workspace_id', 'version'] as const
    const shown = database().db.selectFrom('installations').select(columns)
    expect(await shown.orderBy('bot_id', 'desc').orderBy('alias').execute()).toEqual([
      { bot_id: 'one', alias: 'chat', workspace_id: 'w', version: '1.0.0' },
      { bot_id: 'one', alias: 'mail', workspace_id: 'w', version: '0.7.6' },
      { bot_id: 'gone', alias: 'chat', workspace_id: '', version: '1.0.0' },
    ])
  })
})

type Row = Record<string, string | number | null>

const times = { created_at: 't', updated_at: 't' }
const bot: Row = {
  id: 'one',
  workspace_id: 'w',
  name: 'One',
  type: 'studio',
  dev: 0,
  blocked: 0,
  always_alive: 0,
  tags: '{}',
  definition: '{}',
  secrets: '{}',
  signing_secret: '',
  ...times,
}

function toInstallation(bot_id: string, alias: string, integration_id: string, version: string) {
  const rest = { enabled: 1, configuration: '', disabled_channels: '[]', status: 'registered' }
  const webhook_id = `${bot_id}/${alias}`
  return { bot_id, alias, integration_id, version, name: alias, webhook_id, ...rest, ...times }
}
