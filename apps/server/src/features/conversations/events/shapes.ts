import { requireShape } from '../../../domain/shapes.js'
import type { Audience } from '../../bots/bots/index.js'

/**
 * Throws `InvalidDataFormat` unless an event fits the schema that its maker declares for it. A type
 * that is not declared is not checked.
 * @param alias of the integration that makes it; undefined for the bot
 */
export function requireEventShape(
  audience: Audience,
  alias: string | undefined,
  type: string,
  payload: unknown,
): void {
  const schema = alias === undefined ? audience.eventOf(type) : ofIntegration(audience, alias, type)
  if (schema !== undefined) requireShape(schema, payload, 'payload', `the event ${type}`)
}

function ofIntegration(audience: Audience, alias: string, type: string) {
  const events = audience.installationOf(alias)?.declares?.events ?? {}
  return Object.hasOwn(events, type) ? events[type]?.schema : undefined
}
