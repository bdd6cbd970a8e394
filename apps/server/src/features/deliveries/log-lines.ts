import type { Tx } from '../../platform/db/schema.js'
import type { LogLine } from '../bots/logs/index.js'
import { keyOfLine } from './line-store.js'
import { findSubject } from './log-store.js'
import type { DeliveryRow } from './store.js'

/** The line of the log of a bot that says what became of a delivery. */
export async function lineAbout(
  tx: Tx,
  delivery: DeliveryRow,
  level: LogLine['level'],
  said: string,
): Promise<LogLine> {
  const { bot_id: botId, integration, kind } = delivery
  const about = await findSubject(tx, botId, delivery.subject_id)
  const name = `${about?.type ?? kind}${integration === '' ? '' : ` to ${integration}`}`
  return {
    ...{ botId, level, message: `${name}: ${said}` },
    userId: about?.user_id ?? undefined,
    workflowId: about?.workflow_id ?? undefined,
    conversationId: kind === 'signal' ? keyOfLine(delivery) : (about?.conversation_id ?? undefined),
  }
}
