import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { migrate } from '#server/platform/db/migrate.js'
import { openDatabase } from '#server/platform/db/open.js'
import { prepared } from '#server/platform/db/prepared.js'

const callers = 64
const conversations = 1000

const tables = {
  name: '0001-bench',
  up: async (tx) => {
    await tx.schema
      .createTable('conversations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('last_seq', 'integer', (column) => column.notNull())
      .execute()
    await tx.schema
      .createTable('participants')
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('participants_key', ['conversation_id', 'user_id'])
      .execute()
    await tx.schema
      .createTable('messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await tx.schema
      .createTable('events')
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('events_key', ['conversation_id', 'seq'])
      .execute()
  },
}

const findParticipant = prepared()((db, p) =>
  db
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', p('conversation'))
    .where('user_id', '=', p('user')),
)
const nextSeq = prepared()((db, p) =>
  db
    .updateTable('conversations')
    .set(({ eb, ref }) => ({ last_seq: eb(ref('last_seq'), '+', 1) }))
    .where('id', '=', p('conversation'))
    .returning('last_seq'),
)
const insertMessage = prepared()((db, p) =>
  db.insertInto('messages').values({
    id: p('id'),
    conversation_id: p('conversation'),
    user_id: p('user'),
    payload: p('payload'),
    created_at: p('createdAt'),
  }),
)
const insertEvent = prepared()((db, p) =>
  db
    .insertInto('events')
    .values({ conversation_id: p('conversation'), seq: p('seq'), payload: p('payload') }),
)

/** The four statements of a chat message, compiled once. */
async function messageByPrepared(tx, message) {
  if (!(await findParticipant.first(tx, message))) throw new Error('not a participant')
  const row = await nextSeq.first(tx, message)
  await insertMessage(tx, message)
  await insertEvent(tx, { ...message, seq: row.last_seq })
}

/** The same with queries built each time. */
async function messageByBuilders(tx, { id, conversation, user, payload, createdAt }) {
  const member = await tx
    .selectFrom('participants')
    .select('user_id')
    .where('conversation_id', '=', conversation)
    .where('user_id', '=', user)
    .executeTakeFirst()
  if (!member) throw new Error('not a participant')
  const { last_seq: seq } = await tx
    .updateTable('conversations')
    .set(({ eb, ref }) => ({ last_seq: eb(ref('last_seq'), '+', 1) }))
    .where('id', '=', conversation)
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('messages')
    .values({ id, conversation_id: conversation, user_id: user, payload, created_at: createdAt })
    .execute()
  await tx.insertInto('events').values({ conversation_id: conversation, seq, payload }).execute()
}

const payload = JSON.stringify({
  type: 'text',
  text: 'a message of about a hundred characters '.repeat(3),
})

function newMessage(count) {
  return {
    id: `msg_${count}_${randomBytes(8).toString('hex')}`,
    conversation: `conv_${count % conversations}`,
    user: `user_${count % conversations}`,
    payload,
    createdAt: new Date().toISOString(),
  }
}

/** Calls `work` from 64 concurrent callers and returns calls per second. */
async function rate(milliseconds, work) {
  let count = 0
  const start = performance.now()
  const end = start + milliseconds
  const caller = async () => {
    while (performance.now() < end) {
      await work(count)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return Math.round(count / ((performance.now() - start) / 1000))
}

/**
 * Durable transactions a second of 64 concurrent callers on a fresh database: of one insert, and of
 * the four statements of a message with built and with prepared queries. Best of `rounds`.
 */
export async function measureGroupCommit({ milliseconds = 2000, rounds = 3, url } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-bench-'))
  const database = await openDatabase({ url, file: join(folder, 'bench.db') })
  try {
    await migrate(database, [tables])
    await database.run(async (tx) => {
      for (let index = 0; index < conversations; index += 1) {
        const id = `conv_${index}`
        await tx.insertInto('conversations').values({ id, last_seq: 0 }).execute()
        await tx
          .insertInto('participants')
          .values({ conversation_id: id, user_id: `user_${index}` })
          .execute()
      }
    })
    const works = {
      oneInsert: (tx, message) => insertMessage(tx, message),
      messageByBuilders,
      messageByPrepared,
    }
    const best = {}
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, work] of Object.entries(works)) {
        const found = await rate(milliseconds, (count) =>
          database.run((tx) => work(tx, newMessage(count))),
        )
        best[name] = Math.max(best[name] ?? 0, found)
      }
    }
    return best
  } finally {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await measureGroupCommit())
}
