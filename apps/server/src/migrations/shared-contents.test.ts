import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../test/engines.js'
import { migrate } from '../platform/db/migrate.js'
import { migrations } from './index.js'

const before = migrations.filter(({ name }) => name < '0011')

describeEachEngine('contents from before they were shared', (engine) => {
  const database = useDatabase(engine, before)

  it('keep one blob for the same bytes of a bot, and leave the others to the sweeper', async () => {
    const file = { key_space: '', owner_type: 'bot', owner_id: 'b', status: 'upload_completed' }
    const zeros = { shared: 0, public_content: 0, indexed: 0, passages_shared: 0 }
    const times = { created_at: 't', updated_at: 't' }
    const counts = { size: 3, counted_storage: 3, counted_vector: 0, generation: 1 }
    const texts = { content_type: 'text/plain', tags: '{}', metadata: '{}', workspace_id: 'w' }
    const files = ['1', '2', '3', '4'].map((id) => ({
      ...file,
      ...zeros,
      ...times,
      ...counts,
      ...texts,
      id,
      bot_id: id === '4' ? 'other' : 'bot',
      key: id,
    }))
    // As it was: without the bot of a content.
    const contents = ['1', '2', '3', '4'].map((id) => ({
      file_id: id,
      generation: 1,
      status: 'upload_completed',
      size: 3,
      blob_key: `blob-${id}`,
      sha256: id === '3' ? 'else' : 'same',
      content_type: 'text/plain',
      public_content: 0,
      shared: 0,
      immediate: 0,
      indexed: 0,
      created_at: 't',
    }))
    const empty = { ...contents[0], generation: 2, blob_key: null, sha256: null }
    await database().run(async (tx) => {
      const old = tx.withTables<{ files: Row; file_contents: Row }>()
      await old.insertInto('files').values(files).execute()
      await old
        .insertInto('file_contents')
        .values([...contents, empty])
        .execute()
    })
    await migrate(database(), migrations)

    const { db } = database()
    const blobs = await db.selectFrom('file_blobs').selectAll().orderBy('blob_key').execute()
    expect(blobs).toEqual([
      { blob_key: 'blob-1', bot_id: 'bot', sha256: 'same', size: 3, uses: 2 },
      { blob_key: 'blob-3', bot_id: 'bot', sha256: 'else', size: 3, uses: 1 },
      { blob_key: 'blob-4', bot_id: 'other', sha256: 'same', size: 3, uses: 1 },
    ])
    const rows = db.selectFrom('file_contents').select(['bot_id', 'blob_key'])
    expect(await rows.orderBy('file_id').orderBy('generation').execute()).toEqual([
      { bot_id: 'bot', blob_key: 'blob-1' },
      { bot_id: 'bot', blob_key: null },
      { bot_id: 'bot', blob_key: 'blob-1' },
      { bot_id: 'bot', blob_key: 'blob-3' },
      { bot_id: 'other', blob_key: 'blob-4' },
    ])
    const discarded = await db.selectFrom('discarded_blobs').selectAll().execute()
    expect(discarded).toEqual([{ blob_key: 'blob-2' }])
  })
})

type Row = Record<string, string | number | null>
