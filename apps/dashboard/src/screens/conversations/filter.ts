import { useMemo } from 'react'
import { type Search, useAddressSearch, useScope } from '../../api/address.js'
import type { FilterField } from '../../ui/filters.js'
import { rangeOptions, startOfRange } from '../../ui/ranges.js'
import { tagValuesOf } from '../../ui/tags.js'

/** The filter of a list of conversations, without the bot of the address. */
export interface ConversationFilter {
  botId?: string
  integration?: string
  channel?: string
  tags?: Record<string, string>
  userId?: string
  since?: string
  until?: string
  hasFailedDelivery?: boolean
  text?: string
}

const yesOrNo = [
  { value: 'yes', label: 'yes' },
  { value: 'no', label: 'no' },
]

/** The filters that a reader can add. */
const allFields: readonly FilterField[] = [
  { id: 'text', label: 'Text', placeholder: 'Words in one message' },
  { id: 'bot', label: 'Bot', kind: 'bot' },
  { id: 'failed', label: 'Failed delivery', options: yesOrNo },
  { id: 'user', label: 'User', placeholder: 'user_01J…' },
  { id: 'tags', label: 'Tags', placeholder: 'team=support, language=de' },
  { id: 'integration', label: 'Integration', placeholder: 'chat', suggestions: ['chat'] },
  { id: 'channel', label: 'Channel', placeholder: 'channel', suggestions: ['channel'] },
  { id: 'range', label: 'Active', options: rangeOptions },
  { id: 'since', label: 'Active since', kind: 'time' },
  { id: 'until', label: 'Active until', kind: 'time' },
]

/**
 * The filters of a list, without the one by bot where the address has a bot.
 * @param botId that of the address
 */
export function filterFieldsOf(botId: string | undefined): readonly FilterField[] {
  return botId === undefined ? allFields : allFields.filter(({ id }) => id !== 'bot')
}

/** Parameters of the address that a link to another conversation leaves out. */
export const ofOpenItem: Search = { message: undefined, tab: undefined }

/** The filter of the address, the same object until it changes; a period up to now begins when it was chosen. */
export function useConversationFilter(): ConversationFilter {
  const { botId } = useScope()
  const [search] = useAddressSearch()
  const kept = allFields.map(({ id }) => [id, search[id]])
  const text = JSON.stringify({ ...Object.fromEntries(kept), ...(botId && { bot: botId }) })
  return useMemo(() => filterOf(JSON.parse(text)), [text])
}

function filterOf(search: Search): ConversationFilter {
  const { bot, integration, channel, user, range, until, failed, tags, text } = search
  const since = search.since || startOfRange(range)
  return {
    ...(bot && { botId: bot }),
    ...(text?.trim() && { text }),
    ...(integration && { integration }),
    ...(channel && { channel }),
    ...(user && { userId: user }),
    ...(since && { since }),
    ...(until && { until }),
    ...(failed && { hasFailedDelivery: failed === 'yes' }),
    ...(tags && { tags: tagValuesOf(tags) }),
  }
}
