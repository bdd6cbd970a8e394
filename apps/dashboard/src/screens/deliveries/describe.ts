import type { StatusKind } from '../../ui/status.js'
import type { Delivery } from './queries.js'

const states = {
  delivered: { kind: 'done', word: 'Delivered' },
  failed: { kind: 'attention', word: 'Failed' },
  canceled: { kind: 'off', word: 'Canceled' },
} as const

/** The state of a delivery as one of the five of the dashboard. */
export function stateOf({ status, attempts }: Pick<Delivery, 'status' | 'attempts'>): {
  kind: StatusKind
  word: string
} {
  if (status !== 'pending') return states[status]
  return { kind: 'waiting', word: attempts === 0 ? 'Waiting' : 'Trying again' }
}

/** Names the content of a delivery: the type of the event, or the kind. */
export function contentOf({ eventType, kind }: Pick<Delivery, 'eventType' | 'kind'>): string {
  return eventType ?? kind
}

/** The conversation whose order it keeps, if it is one. */
export function conversationOf({ orderKey }: Pick<Delivery, 'orderKey'>): string | undefined {
  return orderKey?.startsWith('conv') === true ? orderKey : undefined
}

/** The receiver of a delivery: the bot, or an installation of it. */
export function receiverOf(
  { botId, integration }: Pick<Delivery, 'botId' | 'integration'>,
  nameOf: (botId: string) => string,
): string {
  return integration === undefined ? nameOf(botId) : `${integration} of ${nameOf(botId)}`
}
