import type { Client } from '@botstead/contract'
import { useMemo } from 'react'
import { type Search, useAddressSearch, useScope } from '../../api/address.js'
import type { FilterField } from '../../ui/filters.js'
import { rangeOptions, startOfRange } from '../../ui/ranges.js'

type Query = NonNullable<Parameters<Client['listLogs']>[0]>

/** The filter of the lines. */
export type LogFilter = Omit<Query, 'nextToken' | 'pageSize'>

const levels = [
  { value: 'error', label: 'error' },
  { value: 'warn', label: 'warning' },
  { value: 'info', label: 'info' },
  { value: 'debug', label: 'debug' },
]

/** Fields by which a reader can filter the lines. */
export const filterFields: readonly FilterField[] = [
  { id: 'text', label: 'Text', placeholder: 'Text of the message' },
  {
    id: 'minLevel',
    label: 'Level at least',
    options: levels.slice(0, 3),
  },
  { id: 'level', label: 'Level', options: levels },
  {
    id: 'source',
    label: 'Log',
    options: [
      { value: 'bot', label: 'of a bot' },
      { value: 'delivery', label: 'of deliveries' },
      { value: 'integration', label: 'of an integration' },
    ],
  },
  { id: 'conversation', label: 'Conversation', placeholder: 'conv_…' },
  { id: 'user', label: 'User', placeholder: 'user_…' },
  { id: 'workflow', label: 'Workflow', placeholder: 'wrkflow_…' },
  { id: 'integration', label: 'Integration', placeholder: 'Id of the integration' },
  { id: 'range', label: 'Time', options: rangeOptions },
  { id: 'since', label: 'From', kind: 'time' },
  { id: 'until', label: 'Until', kind: 'time' },
]

/** The part of an address that restricts the list, for links that keep it. */
export function keptOf(search: Search): Search {
  return Object.fromEntries(filterFields.map(({ id }) => [id, search[id]]))
}

/** The filter of the address, the same object until it changes; a period up to now begins when it was chosen. */
export function useLogFilter(): LogFilter {
  const { botId } = useScope()
  const [search] = useAddressSearch()
  const text = JSON.stringify([botId, keptOf(search)])
  return useMemo(() => {
    const [bot, kept]: [string | null, Search] = JSON.parse(text)
    return filterOf(kept, bot ?? undefined)
  }, [text])
}

function filterOf(search: Search, botId: string | undefined): LogFilter {
  const { text, conversation, user, workflow, integration, until } = search
  const since = search.since || startOfRange(search.range)
  const level = levelOf(search.level)
  const minLevel = levelOf(search.minLevel)
  const source = sources.find((one) => one === search.source)
  return {
    ...(botId && { botId }),
    ...(text && { text }),
    ...(level && { level }),
    ...(minLevel && { minLevel }),
    ...(source && { source }),
    ...(conversation && { conversationId: conversation }),
    ...(user && { userId: user }),
    ...(workflow && { workflowId: workflow }),
    ...(integration && { integrationId: integration }),
    ...(since && { since }),
    ...(until && { until }),
  }
}

const sources = ['bot', 'delivery', 'integration'] as const

/** A severity as an address has it; undefined for any other word. */
function levelOf(word: string | undefined) {
  return (['debug', 'info', 'warn', 'error'] as const).find((level) => level === word)
}
