import type { Body, contract } from '@botstead/contract'
import type { BotReach } from '../../../domain/rights.js'
import { inUtc } from '../listing-store.js'

/** The requested filter of the deliveries that are replayed. */
export type ReplayFilter = Body<typeof contract.deliveryReplays.create>

/** The filter as it is stored, with the bots that the member could see who requested the replay. */
export type StoredFilter = ReplayFilter & { bots?: BotReach }

const finished: ('delivered' | 'failed' | 'canceled')[] = ['delivered', 'failed', 'canceled']

/** Statuses of the deliveries that are replayed. */
export function statusesOf({ status, ids }: ReplayFilter) {
  if (status?.length) return status
  return ids === undefined ? ['failed' as const] : finished
}

/** The range of time of a filter; deliveries that were created after the start of the replay are left out. */
export function rangeOf(filter: ReplayFilter, start: string) {
  const { since, until } = inUtc(filter)
  return { since, until: until !== undefined && until < start ? until : start }
}
