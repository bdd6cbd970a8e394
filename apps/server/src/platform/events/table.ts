import type { JsonColumn, TimeColumn } from '../db/columns.js'

/** The log of what happened: one row per event, in the same transaction as the change. */
interface EventsTable {
  /** The stream of the sequence: the id of a conversation, or another name that is never reused. */
  stream: string
  /** 1, 2, 3, ... within the stream, without gaps and in the order of the commits. */
  sequence: number
  bot_id: string
  type: string
  /** Id of the subject of the event, which readers join. */
  subject_id: string
  /** A few more ids, if the subject alone is not enough. */
  data: JsonColumn | null
  created_at: TimeColumn
}

/** State of a stream beside its events. A stream has no row before it needs one. */
interface EventStreamsTable {
  stream: string
  /** The last number given out here; stays 0 if the stream is counted elsewhere. */
  last_sequence: number
  /** Events up to this one were removed for their age; 0 if the log is whole. */
  trimmed_sequence: number
}

declare module '../db/schema.js' {
  interface Schema {
    events: EventsTable
    event_streams: EventStreamsTable
  }
}
