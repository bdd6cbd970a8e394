import type { Receiver } from '../../../domain/receiver.js'
import type { LogLine } from './service.js'

/** A line about a receiver as a whole. */
export function lineOfReceiver(
  { botId, integration }: Receiver,
  level: LogLine['level'],
  said: string,
): LogLine {
  const name = integration === '' ? 'the bot' : integration
  return { botId, level, message: `Deliveries to ${name}: ${said}` }
}
