import { encodeJson } from '../../platform/db/columns.js'
import type { Audiences } from '../bots/bots/index.js'
import type { EventsService } from '../conversations/events/index.js'
import type { CustomEventData, CustomEvents } from './events.js'

export interface CustomEventsDeps {
  botEvents: Pick<EventsService, 'record' | 'find'>
  audiences: Audiences
}

/** Custom events among everything that happens in a bot: events `custom` of the installation. */
export function createCustomEvents({ botEvents, audiences }: CustomEventsDeps): CustomEvents {
  const typeOf = (alias: string) => `${alias}:custom`
  return {
    audienceOf: (botId) => audiences.of(botId),

    async record(tx, audience, { botId, alias, data }) {
      const row = await botEvents.record(tx, audience, {
        botId,
        integration: alias,
        type: typeOf(alias),
        payload: encodeJson(data),
        conversationId: data.conversationId,
        userId: data.userId,
      })
      return { id: row.id, createdAt: row.created_at }
    },

    async find(db, botId, alias, id) {
      const found = await botEvents.find(db, botId, id)
      if (found === undefined || found.row.type !== typeOf(alias)) return undefined
      const data = found.payload
      return isData(data) ? { createdAt: found.row.created_at, data } : undefined
    },
  }
}

/** Integrations may make events of this type that hold something else. */
function isData(value: object): value is CustomEventData {
  const { userId, conversationId, payload }: Partial<Record<string, unknown>> = { ...value }
  return (
    typeof userId === 'string' &&
    typeof conversationId === 'string' &&
    typeof payload === 'object' &&
    payload !== null
  )
}
