import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

const before = migrations.filter(({ name }) => name < '0041')

describeEachEngine('workflows that run while a server is upgraded', (engine) => {
  const database = useDatabase(engine, before)

  it('are shown by their conversations, the newest of each', async () => {
    await database().run(async (tx) => {
      const old = tx.withTables<{ conversations: Row; workflows: Row }>()
      await old
        .insertInto('conversations')
        .values(['busy', 'done', 'foreign', 'quiet'].map(toConversation))
        .execute()
      await old
        .insertInto('workflows')
        .values([
          toWorkflow('1', 'busy', 'paused', 't1'),
          toWorkflow('2', 'busy', 'listening', 't2'),
          toWorkflow('3', 'busy', 'completed', 't3'),
          toWorkflow('4', 'done', 'failed', 't1'),
          { ...toWorkflow('5', 'foreign', 'pending', 't1'), bot_id: 'other' },
          toWorkflow('6', null, 'pending', 't1'),
        ])
        .execute()
    })
    await migrate(database(), migrations)
    const shown = database().db.selectFrom('conversations').select(['id', 'current_workflow_id'])
    expect(await shown.orderBy('id').execute()).toEqual([
      { id: 'busy', current_workflow_id: '2' },
      { id: 'done', current_workflow_id: null },
      { id: 'foreign', current_workflow_id: null },
      { id: 'quiet', current_workflow_id: null },
    ])
  })
})

type Row = Record<string, string | number | null>

function toConversation(id: string): Row {
  const place = { integration: 'chat', channel: 'channel', tags: '{}', properties: '{}' }
  const zeros = { claimable: 0, message_count: 0, last_sequence: 0, last_message_at: 0 }
  return { id, bot_id: 'bot', ...place, ...zeros, created_at: 't', updated_at: 't' }
}

function toWorkflow(
  id: string,
  conversation_id: string | null,
  status: string,
  created_at: string,
): Row {
  const texts = { name: 'trip', input: '{}', output: '{}', tags: '{}' }
  const times = { created_at, updated_at: created_at, timeout_at: 't9' }
  return { id, bot_id: 'bot', conversation_id, status, ...texts, ...times }
}
