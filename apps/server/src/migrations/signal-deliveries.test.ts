import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

const before = migrations.filter(({ name }) => name < '0030')

type Row = Record<string, string | number | null>
type Tables = Record<
  'installations' | 'conversations' | 'events' | 'messages' | 'chat_webhook_cursors' | 'jobs',
  Row
>

describeEachEngine('signals from before they were delivered', (engine) => {
  const database = useDatabase(engine, before)

  it('that still wait are put into the outbox, in order, of the chat alone', async () => {
    const times = { created_at: 't', updated_at: 't' }
    const installation = (bot_id: string, alias: string, posts_signals: number) => ({
      bot_id,
      alias,
      posts_signals,
      ...times,
      enabled: 1,
      webhook_id: `${bot_id}-${alias}`,
      integration_id: alias,
      name: alias,
      version: '1',
      configuration_type: null,
      configuration: '',
      disabled_channels: '[]',
      status: 'registered',
      status_reason: null,
    })
    const conversation = (id: string, bot_id: string, integration: string) => ({
      id,
      bot_id,
      integration,
      ...times,
      foreign_id: null,
      channel: 'channel',
      tags: '{}',
      properties: '{}',
      owner_user_id: null,
      claimable: 0,
      message_count: 0,
      last_sequence: 9,
      last_message_at: 0,
    })
    const event = (stream: string, sequence: number, type: string, subject_id = 'x') => ({
      stream,
      sequence,
      type,
      subject_id,
      bot_id: 'bot',
      data: null,
      created_at: 't',
    })
    const streamed = JSON.stringify({ text: 'done', metadata: { streamId: 's' } })
    await database().run(async (tx) => {
      const old = tx.withTables<Tables>()
      await old
        .insertInto('installations')
        .values([
          installation('bot', 'chat', 1),
          installation('bot', 'post', 0),
          installation('quiet', 'chat', 0),
        ])
        .execute()
      await old
        .insertInto('conversations')
        .values([
          conversation('conv_1', 'bot', 'chat'),
          conversation('conv_2', 'bot', 'post'),
          conversation('conv_3', 'quiet', 'chat'),
        ])
        .execute()
      await old
        .insertInto('messages')
        .values({
          id: 'msg_1',
          bot_id: 'bot',
          conversation_id: 'conv_1',
          user_id: 'bot',
          type: 'text',
          payload: streamed,
          direction: 'outgoing',
          tags: null,
          origin: null,
          sequence: 7,
          created_at: 't',
          updated_at: null,
        })
        .execute()
      await old
        .insertInto('events')
        .values([
          event('conv_1', 5, 'message_created'),
          event('conv_1', 6, 'participant_added'),
          event('conv_1', 7, 'message_created', 'msg_1'),
          event('conv_2', 1, 'message_created'),
          event('conv_3', 1, 'message_created'),
        ])
        .execute()
      await old
        .insertInto('chat_webhook_cursors')
        .values([
          { conversation_id: 'conv_1', bot_id: 'bot', sequence: 5 },
          { conversation_id: 'conv_2', bot_id: 'bot', sequence: 0 },
          { conversation_id: 'conv_3', bot_id: 'quiet', sequence: 0 },
        ])
        .execute()
      await old
        .insertInto('jobs')
        .values(
          ['chat.webhook', 'other'].map((kind) => ({
            id: kind,
            kind,
            key: null,
            payload: '{}',
            state: 'waiting',
            priority: 0,
            due_at: 't',
            follow_up_at: null,
            attempts: 0,
            max_attempts: 1,
            claims: 0,
            deadline_milliseconds: 1,
            owner: null,
            last_error: null,
            ...times,
          })),
        )
        .execute()
    })
    await migrate(database(), migrations)

    const { db } = database()
    const columns = ['bot_id', 'integration', 'kind', 'subject_id', 'order_key', 'status'] as const
    const waiting = db.selectFrom('deliveries').select([...columns, 'position', 'next_attempt_at'])
    const common = {
      bot_id: 'bot',
      integration: 'chat',
      kind: 'signal',
      status: 'pending',
      order_key: 'bot/chat/conv_1',
    }
    expect(await waiting.orderBy('position').execute()).toEqual([
      { ...common, subject_id: 'conv_1/6', position: 1, next_attempt_at: expect.any(String) },
      { ...common, subject_id: 'conv_1/7/complete', position: 2, next_attempt_at: null },
      { ...common, subject_id: 'conv_1/7', position: 3, next_attempt_at: null },
    ])
    expect(await db.selectFrom('delivery_lines').selectAll().execute()).toEqual([
      { order_key: 'bot/chat/conv_1', bot_id: 'bot', last_position: 3, waiting: 3 },
    ])
    expect(await db.selectFrom('jobs').select('kind').execute()).toEqual([{ kind: 'other' }])
  })
})
