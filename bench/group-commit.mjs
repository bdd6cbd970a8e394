import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { migrate } from '#server/platform/db/migrate.js'
import { openDatabase } from '#server/platform/db/open.js'
import { prepared } from '#server/platform/db/prepared.js'
import { sized } from './size.mjs'

const callers = 64
const conversations = 1000

const tables = {
  name: '0001-bench',
  up: async (tx) => {
    await tx.schema
      .createTable('bench_conversations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('last_seq', 'integer', (column) => column.notNull())
      .execute()
    await tx.schema
      .createTable('bench_participants')
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('bench_participants_key', ['conversation_id', 'user_id'])
      .execute()
    await tx.schema
      .createTable('bench_messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await tx.schema
      .createTable('bench_events')
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'integer', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('bench_events_key', ['conversation_id', 'seq'])
      .execute()
  },
}

/**
 * @typedef {{ id: string, conversation: string, user: string, payload: string, createdAt: string }} Message
 * @typedef {import('#server/platform/db/schema.js').Schema} Schema
 */

/** @type {() => import('#server/platform/db/prepared.js').Prepare<Message, Schema>} */
const preparedForMessage = prepared
/** @type {() => import('#server/platform/db/prepared.js').Prepare<Message & { seq: number }, Schema>} */
const preparedForEvent = prepared

const findParticipant = preparedForMessage()((db, p) =>
  db
    .selectFrom('bench_participants')
    .select('user_id')
    .where('conversation_id', '=', p('conversation'))
    .where('user_id', '=', p('user')),
)
const nextSeq = preparedForMessage()((db, p) =>
  db
    .updateTable('bench_conversations')
    .set(({ eb, ref }) => ({ last_seq: eb(ref('last_seq'), '+', 1) }))
    .where('id', '=', p('conversation'))
    .returning('last_seq'),
)
const insertMessage = preparedForMessage()((db, p) =>
  db.insertInto('bench_messages').values({
    id: p('id'),
    conversation_id: p('conversation'),
    user_id: p('user'),
    payload: p('payload'),
    created_at: p('createdAt'),
  }),
)
const insertEvent = preparedForEvent()((db, p) =>
  db
    .insertInto('bench_events')
    .values({ conversation_id: p('conversation'), seq: p('seq'), payload: p('payload') }),
)

/** The four statements of a chat message, compiled once. */
async function messageByPrepared(tx, message) {
  if (!(await findParticipant.first(tx, message))) throw new Error('not a participant')
  const row = await nextSeq.first(tx, message)
  if (row === undefined) throw new Error('no conversation')
  await insertMessage(tx, message)
  await insertEvent(tx, { ...message, seq: row.last_seq })
}

/** The same with queries built each time. */
async function messageByBuilders(tx, { id, conversation, user, payload, createdAt }) {
  const member = await tx
    .selectFrom('bench_participants')
    .select('user_id')
    .where('conversation_id', '=', conversation)
    .where('user_id', '=', user)
    .executeTakeFirst()
  if (!member) throw new Error('not a participant')
  const { last_seq: seq } = await tx
    .updateTable('bench_conversations')
    .set(({ eb, ref }) => ({ last_seq: eb(ref('last_seq'), '+', 1) }))
    .where('id', '=', conversation)
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('bench_messages')
    .values({ id, conversation_id: conversation, user_id: user, payload, created_at: createdAt })
    .execute()
  await tx
    .insertInto('bench_events')
    .values({ conversation_id: conversation, seq, payload })
    .execute()
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
export async function measureGroupCommit({ milliseconds = sized(2000, 100), rounds = 3 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-bench-'))
  const database = await openDatabase({ file: join(folder, 'bench.db') })
  try {
    await migrate(database, [tables])
    await database.run(async (tx) => {
      for (let index = 0; index < conversations; index += 1) {
        const id = `conv_${index}`
        await tx.insertInto('bench_conversations').values({ id, last_seq: 0 }).execute()
        await tx
          .insertInto('bench_participants')
          .values({ conversation_id: id, user_id: `user_${index}` })
          .execute()
      }
    })
    const works = {
      oneInsert: async (tx, message) => void (await insertMessage(tx, message)),
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

/** Durable transactions without HTTP: the limit of the storage with 64 concurrent callers. */
export async function measureCommits() {
  const best = await measureGroupCommit({ rounds: 1 })
  const perSecond = (count) => `${count.toLocaleString('en')} /s`
  return [
    { work: 'durable insert, group commit, no HTTP', figure: perSecond(best.oneInsert) },
    { work: 'the statements of a message, no HTTP', figure: perSecond(best.messageByPrepared) },
  ]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await measureGroupCommit())
}
