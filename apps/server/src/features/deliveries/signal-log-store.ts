import { type SqlBool, sql } from 'kysely'
import type { KeepStream } from '../../platform/events/trim.js'

/**
 * Keeps the log of a conversation while a signal of it waits for the webhook of its chat: the signals
 * are made of the log when they are sent.
 * @param alias of the built-in chat
 */
export function keepWaitingSignals(alias: string): KeepStream {
  return ({ stream, botId }) => sql<SqlBool>`exists (
    select 1 from deliveries as waiting
    where waiting.order_key = ${botId} || ${sql.lit(`/${alias}/`)} || ${stream}
      and waiting.status = 'pending')`
}
