import type { Selectable } from 'kysely'
import { decodeJson } from '../db/columns.js'
import { prepared } from '../db/prepared.js'
import type { Db, Schema } from '../db/schema.js'

/** An event as it stands in the log. */
export interface StoredEvent {
  stream: string
  /** Its place in the stream: one more than that of the event before it. */
  sequence: number
  botId: string
  type: string
  /** Id of what the event is about; that may be gone by now. */
  subjectId: string
  /** `data` of the published event; undefined if it had none. */
  data: unknown
  /** ISO 8601 time of the change. */
  createdAt: string
}

const selectEvents = prepared<{ stream: string; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('stream', '=', p('stream'))
    .where('sequence', '>', p('after'))
    .orderBy('sequence')
    .limit(p('limit')),
)

const selectTrimmed = prepared<{ stream: string }>()((db, p) =>
  db.selectFrom('event_streams').select('trimmed_sequence').where('stream', '=', p('stream')),
)

const selectNewest = prepared<{ stream: string }>()((db, p) =>
  db
    .selectFrom('events')
    .select((eb) => eb.fn.max('sequence').as('newest'))
    .where('stream', '=', p('stream')),
)

/** The events of a stream after a number, in order, at most `limit`. */
export async function readEvents(
  db: Db,
  stream: string,
  afterSequence: number,
  limit: number,
): Promise<StoredEvent[]> {
  const rows = await selectEvents(db, { stream, after: afterSequence, limit })
  return rows.map(toStored)
}

/** The events of one type about one subject in a part of a stream, in order. */
export async function readSubjectEvents(
  db: Db,
  range: { stream: string; first: number; last: number; type: string; subjectId: string },
): Promise<StoredEvent[]> {
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('stream', '=', range.stream)
    .where('sequence', '>=', range.first)
    .where('sequence', '<=', range.last)
    .where('type', '=', range.type)
    .where('subject_id', '=', range.subjectId)
    .orderBy('sequence')
    .execute()
  return rows.map(toStored)
}

function toStored(row: Selectable<Schema['events']>): StoredEvent {
  return {
    stream: row.stream,
    sequence: row.sequence,
    botId: row.bot_id,
    type: row.type,
    subjectId: row.subject_id,
    data: row.data === null ? undefined : decodeJson<unknown>(row.data),
    createdAt: row.created_at,
  }
}

/** Types of events; of some of them only those that have no subject. */
export interface EventSelection {
  types: readonly string[]
  typesWithoutSubject: readonly string[]
}

/** A part of a stream in the order of times, then of numbers. */
export interface EventRange {
  direction: 'asc' | 'desc'
  /** Begins behind this time (ISO 8601) and number. */
  after: { time: string; sequence: number } | undefined
  limit: number
}

/** Selected events in the order of their times, which may differ a little from that of their numbers. */
export async function listSelectedEvents(
  db: Db,
  stream: string,
  { types, typesWithoutSubject }: EventSelection,
  { direction, after, limit }: EventRange,
): Promise<StoredEvent[]> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('stream', '=', stream)
    .where(({ eb, or, and }) =>
      or([
        ...types.map((type) => eb('type', '=', type)),
        ...typesWithoutSubject.map((type) =>
          and([eb('type', '=', type), eb('subject_id', '=', '')]),
        ),
      ]),
    )
    .orderBy('created_at', direction)
    .orderBy('sequence', direction)
    .limit(limit)
  if (after !== undefined) {
    const { time, sequence } = after
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('created_at', 'sequence'),
        direction === 'asc' ? '>' : '<',
        tuple(time, sequence),
      ),
    )
  }
  return (await query.execute()).map(toStored)
}

const selectBackwards = prepared<{ stream: string; below: number; limit: number }>()((db, p) =>
  db
    .selectFrom('events')
    .select(['sequence', 'created_at'])
    .where('stream', '=', p('stream'))
    .where('sequence', '<', p('below'))
    .orderBy('sequence', 'desc')
    .limit(p('limit')),
)

const readBackwards = 50

/**
 * The number after which the events from a time on (ISO 8601) stand. The log is read from its end and
 * no further than that time.
 */
export async function sequenceBefore(db: Db, stream: string, time: string): Promise<number> {
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = await selectBackwards(db, { stream, below, limit: readBackwards })
    for (const { sequence, created_at } of rows) {
      if (created_at < time) return sequence
      below = sequence
    }
    if (rows.length < readBackwards) break
  }
  return below === Number.MAX_SAFE_INTEGER ? await newestSequence(db, stream) : below - 1
}

/** The lowest number that the log of a stream still holds, or will hold if it is empty. */
export async function oldestSequence(db: Db, stream: string): Promise<number> {
  const row = await selectTrimmed.first(db, { stream })
  return (row?.trimmed_sequence ?? 0) + 1
}

/** The number of the last event of a stream, also if it was trimmed since; 0 before the first. */
export async function newestSequence(db: Db, stream: string): Promise<number> {
  const row = await selectNewest.first(db, { stream })
  // Without an event left, the last one was the last to be trimmed.
  return row?.newest ?? (await oldestSequence(db, stream)) - 1
}
