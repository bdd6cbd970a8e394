import { type UsageType, usageTypes } from '@botstead/contract'
import { formatBytes, formatNumber } from '../numbers.js'
import { describeDuration } from '../time.js'

/** A kind of usage that people look at. */
export interface Kind {
  label: string
  unit: 'count' | 'bytes' | 'seconds'
  /** Whether it is counted by the month, and begins with nothing; otherwise it stays until something is deleted. */
  isMonthly: boolean
  /** What happens when its quota is used up. */
  whenFull?: string
}

const nextMonth = 'More are refused until the next month, unless the quota is raised.'
const nextDeletion = 'More is refused until something is deleted or the quota is raised.'

const kinds: Partial<Record<UsageType, Kind>> = {
  invocation_calls: {
    label: 'Messages and events',
    unit: 'count',
    isMonthly: true,
    whenFull: nextMonth,
  },
  message_count: { label: 'Messages', unit: 'count', isMonthly: true },
  action_calls: { label: 'Calls of actions', unit: 'count', isMonthly: true },
  listener_time: { label: 'Listening time', unit: 'seconds', isMonthly: true },
  hosted_time: { label: 'Hosted time', unit: 'seconds', isMonthly: true },
  storage_count: { label: 'Storage', unit: 'bytes', isMonthly: false, whenFull: nextDeletion },
  knowledgebase_vector_storage: {
    label: 'Indexed storage',
    unit: 'bytes',
    isMonthly: false,
    whenFull: nextDeletion,
  },
  indexed_file_count: { label: 'Indexed files', unit: 'count', isMonthly: false },
  bot_count: { label: 'Bots', unit: 'count', isMonthly: false },
  always_alive: { label: 'Bots whose code always runs', unit: 'count', isMonthly: false },
  workspace_member_count: { label: 'Members', unit: 'count', isMonthly: false },
  integrations_owned_count: { label: 'Integrations', unit: 'count', isMonthly: false },
}

/** The kinds of which the days of a month are shown. */
export const dailyTypes = [
  'invocation_calls',
  'message_count',
  'action_calls',
  'listener_time',
  'hosted_time',
  'storage_count',
  'knowledgebase_vector_storage',
] as const satisfies readonly UsageType[]

/** The kinds of a bot. */
export const botTypes: readonly UsageType[] = [...dailyTypes, 'indexed_file_count']

/** The kinds of a workspace. */
export const workspaceTypes: readonly UsageType[] = usageTypes
  .filter((type) => kinds[type] !== undefined)
  .toSorted((a, b) => orderOf(a) - orderOf(b))

function orderOf(type: UsageType): number {
  return Object.keys(kinds).indexOf(type)
}

/** The kind of a type; one that this page does not know is a number with the name of the type. */
export function kindOf(type: UsageType): Kind {
  return kinds[type] ?? { label: type, unit: 'count', isMonthly: false }
}

/** An amount of a type for people: `1.4 MB`, `3 min`. */
export function formatUsage(type: UsageType, value: number): string {
  const { unit } = kindOf(type)
  if (unit === 'bytes') return formatBytes(value)
  if (unit === 'count') return formatNumber(value)
  return value === 0 ? '0 s' : describeDuration(value * 1000)
}
