import type { Client } from '@botstead/contract'
import { useMemo } from 'react'
import { type Search, useAddressSearch, useScope } from '../../api/address.js'
import type { FilterField } from '../../ui/filters.js'
import { rangeOptions, startOfRange } from '../../ui/ranges.js'

type Query = NonNullable<Parameters<Client['listWorkspaceDeliveries']>[0]>

/** The filter of the deliveries, besides their status. */
export type DeliveryFilter = Omit<Query, 'status' | 'nextToken' | 'pageSize'>

/** A status of deliveries. */
export type DeliveryStatus = NonNullable<Query['status']>[number]

const kinds = [
  { value: 'event_received', label: 'event to a bot' },
  { value: 'message_created', label: 'message to an integration' },
  { value: 'message_updated', label: 'changed message' },
  { value: 'conversation_updated', label: 'changed conversation' },
  { value: 'signal', label: 'signal to a webhook' },
] as const

const receivers = [
  { value: 'bot', label: 'bots' },
  { value: 'integrations', label: 'integrations' },
] as const

/** Fields by which a reader can filter the deliveries. */
export const filterFields: readonly FilterField[] = [
  { id: 'kind', label: 'Kind', options: kinds },
  {
    id: 'event',
    label: 'Event',
    placeholder: 'message_created',
    suggestions: ['message_created', 'conversation_started', 'workflow_update', 'state_expired'],
  },
  { id: 'to', label: 'To', options: receivers },
  { id: 'integration', label: 'Integration', placeholder: 'chat', suggestions: ['chat'] },
  {
    id: 'paused',
    label: 'Receiver',
    options: [
      { value: 'yes', label: 'is paused' },
      { value: 'no', label: 'is not paused' },
    ],
  },
  { id: 'conversation', label: 'Conversation', placeholder: 'conv_…' },
  { id: 'range', label: 'Time', options: rangeOptions },
  { id: 'since', label: 'From', kind: 'time' },
  { id: 'until', label: 'Until', kind: 'time' },
]

/** The part of an address that restricts the list besides the status. */
export function filtersOf(search: Search): Search {
  return Object.fromEntries(filterFields.map(({ id }) => [id, search[id]]))
}

/** The filter of the address, the same object until it changes; a period up to now begins when it was chosen. */
export function useDeliveryFilter(): DeliveryFilter {
  const { botId } = useScope()
  const [search] = useAddressSearch()
  const text = JSON.stringify([botId, filtersOf(search)])
  return useMemo(() => {
    const [bot, filters]: [string | null, Search] = JSON.parse(text)
    return filterOf(filters, bot ?? undefined)
  }, [text])
}

function filterOf(search: Search, botId: string | undefined): DeliveryFilter {
  const { event, integration, paused, conversation, until } = search
  const since = search.since || startOfRange(search.range)
  const kind = kinds.find(({ value }) => value === search.kind)?.value
  const receiver = receivers.find(({ value }) => value === search.to)?.value
  return {
    ...(botId && { botId }),
    ...(kind && { kind }),
    ...(event && { eventType: event }),
    ...(receiver && { receiver }),
    ...(integration && { integration }),
    ...(paused && { receiverPaused: paused === 'yes' }),
    ...(conversation && { conversationId: conversation }),
    ...(since && { since }),
    ...(until && { until }),
  }
}

/** The status that an address names. */
export function statusOf(search: Search): DeliveryStatus | undefined {
  const all: readonly DeliveryStatus[] = ['failed', 'pending', 'delivered', 'canceled']
  return all.find((status) => status === search.status)
}
