import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

type Row = Record<string, string | number | null>

const before = migrations.filter(({ name }) => name < '0170')

describeEachEngine('logs from before they had one table', (engine) => {
  const database = useDatabase(engine, before)

  it('keep the lines of bots and integrations that are there, with their workspaces', async () => {
    const { db, run } = database()
    const tables = await db.introspection.getTables()
    /** A row with something in each column that needs it. */
    const rowOf = (table: string, values: Row): Row => ({
      ...Object.fromEntries(
        (tables.find(({ name }) => name === table)?.columns ?? [])
          .filter(({ isNullable, hasDefaultValue }) => !isNullable && !hasDefaultValue)
          .map(({ name, dataType }) => [name, /text/i.test(dataType) ? `${name} ${values.id}` : 1]),
      ),
      ...values,
    })
    // More than one part of the copy.
    const many = Array.from({ length: 20_050 }, (_, number) => ({
      id: `report_${String(number).padStart(6, '0')}`,
      bot_id: number % 3 === 0 ? 'gone' : 'bot',
      level: 'info',
      message: `line ${number}`,
      user_id: 'user',
      workflow_id: 'workflow',
      created_at: `2026-01-01T00:00:00.${String(number % 1000).padStart(3, '0')}Z`,
    }))
    const ofMail = { integration_id: 'mail', bot_id: '', level: 'error', message: 'refused' }
    const attempt = { number: 1, started_at: 's', ended_at: 'e', duration_ms: 1 }
    await run(async (tx) => {
      const old = tx.withTables<Record<string, Row>>()
      const insert = async (table: string, ...rows: Row[]) => {
        await old.insertInto(table).values(rows).execute()
      }
      await insert('bots', rowOf('bots', { id: 'bot', workspace_id: 'ours' }))
      await insert('integrations', rowOf('integrations', { id: 'mail', workspace_id: 'theirs' }))
      for (let at = 0; at < many.length; at += 400) {
        await insert('bot_logs', ...many.slice(at, at + 400))
      }
      await insert(
        'integration_logs',
        { ...ofMail, id: 'report_mail', event_id: 'event', created_at: 't' },
        { ...ofMail, id: 'report_gone', integration_id: 'gone', created_at: 't' },
      )
      await insert(
        'delivery_attempts',
        { ...attempt, delivery_id: 'of bot', bot_id: 'bot' },
        { ...attempt, delivery_id: 'of another', bot_id: 'gone' },
      )
    })
    await migrate(database(), migrations)

    const lines = await db.selectFrom('log_lines').selectAll().orderBy('id').execute()
    const [last] = lines.splice(-1)
    expect(last).toEqual({
      ...{ user_id: null, workflow_id: null, conversation_id: null, message_id: null },
      ...{ ...ofMail, id: 'report_mail', event_id: 'event', created_at: 't' },
      workspace_id: 'theirs',
    })
    const none = { conversation_id: null, message_id: null, event_id: null }
    expect(lines).toEqual(
      many
        .filter(({ bot_id }) => bot_id === 'bot')
        .map((line) => ({ ...line, ...none, integration_id: null, workspace_id: 'ours' })),
    )
    const attempts = await db
      .selectFrom('delivery_attempts')
      .select(['bot_id', 'workspace_id'])
      .orderBy('bot_id')
      .execute()
    expect(attempts).toEqual([
      { bot_id: 'bot', workspace_id: 'ours' },
      { bot_id: 'gone', workspace_id: '' },
    ])
    const left = (await db.introspection.getTables()).map(({ name }) => name)
    expect(left).not.toContain('bot_logs')
    expect(left).not.toContain('integration_logs')
  })
})
