import { type UsageType, usageTypes } from '@botstead/contract'
import { formatBytes, formatNumber } from '../numbers.js'
import { describeDuration } from '../time.js'

/** The presentation of a type of usage. */
export interface Kind {
  label: string
  unit: 'count' | 'bytes' | 'seconds'
  /** Whether it is a total that begins at 0 each month; otherwise it is a size or a number of objects. */
  isMonthly: boolean
  /** The effect of a quota that is used up, for people; undefined if home does not report it. */
  whenFull?: string
}

const nextMonth = 'Further ones are refused until the next month or until the quota is raised.'
const nextDeletion = 'Further files are refused until files are deleted or the quota is raised.'

const kinds: Partial<Record<UsageType, Kind>> = {
  invocation_calls: {
    label: 'Messages and events',
    unit: 'count',
    isMonthly: true,
    whenFull: nextMonth,
  },
  message_count: { label: 'Messages', unit: 'count', isMonthly: true },
  action_calls: { label: 'Action calls', unit: 'count', isMonthly: true },
  listener_time: { label: 'Listening time', unit: 'seconds', isMonthly: true },
  hosted_time: { label: 'Running time of code', unit: 'seconds', isMonthly: true },
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

/** The types whose days are shown. */
export const dailyTypes = [
  'invocation_calls',
  'message_count',
  'action_calls',
  'listener_time',
  'hosted_time',
  'storage_count',
  'knowledgebase_vector_storage',
] as const satisfies readonly UsageType[]

/** The types of a bot. */
export const botTypes: readonly UsageType[] = [...dailyTypes, 'indexed_file_count']

/** The types of a workspace. */
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
