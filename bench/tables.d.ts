// Tables that a benchmark makes for itself, beside those of the server.
declare module '#server/platform/db/schema.js' {
  interface Schema {
    bench_conversations: { id: string; last_seq: number }
    bench_participants: { conversation_id: string; user_id: string }
    bench_messages: {
      id: string
      conversation_id: string
      user_id: string
      payload: string
      created_at: string
    }
    bench_events: { conversation_id: string; seq: number; payload: string }
  }
}

export {}
