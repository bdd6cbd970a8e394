import type { UsageType } from '@botstead/contract'
import type { Config } from '../../../config/config.js'
import { callKinds, type GaugeKind, type UsageKind } from '../../tenancy/metering/index.js'

/** The origin of the figures of a type. */
export type Source =
  /** Counters, whose days are added up. */
  | { counters: readonly UsageKind[]; unit?: 'seconds' }
  /** A size or a number of objects; the value of a period is the last one in it. */
  | { gauge: GaugeKind }
  /** A limit of single requests: nothing of it is used up. */
  | { limit: (config: Pick<Config, 'limits' | 'rateLimit'>) => number | undefined }
  /** Nothing: this server does not have it. */
  | 'none'

export const sources: Readonly<Record<UsageType, Source>> = {
  invocation_calls: { counters: callKinds },
  message_count: { counters: ['user_messages', 'bot_messages'] },
  action_calls: { counters: ['action_calls'] },
  listener_time: { counters: ['listener_time'], unit: 'seconds' },
  hosted_time: { counters: ['hosted_time'], unit: 'seconds' },
  storage_count: { gauge: 'storage' },
  knowledgebase_vector_storage: { gauge: 'vectors' },
  indexed_file_count: { gauge: 'indexed_files' },
  bot_count: { gauge: 'bots' },
  workspace_member_count: { gauge: 'members' },
  integrations_owned_count: { gauge: 'integrations' },
  always_alive: { gauge: 'always_alive' },
  workspace_ratelimit: { limit: ({ rateLimit }) => rateLimit.perMinute },
  file_max_size_bytes: { limit: ({ limits }) => limits.fileBytes },
  invocation_timeout: { limit: () => undefined },
  table_row_count: 'none',
  ai_spend: 'none',
  openai_spend: 'none',
  bing_search_spend: 'none',
}

/** Whether the stored values of a type replace each other, instead of adding up. */
export function isGauge(source: Source): source is Extract<Source, { gauge: GaugeKind }> {
  return source !== 'none' && 'gauge' in source
}

/** The kinds of rows of a type. */
export function kindsOf(source: Source): readonly UsageKind[] {
  if (source === 'none' || 'limit' in source) return []
  return 'gauge' in source ? [source.gauge] : source.counters
}

/** A stored value in the unit of its type: times are stored in milliseconds. */
export function inUnit(source: Source, value: number): number {
  const isTime = source !== 'none' && 'counters' in source && source.unit === 'seconds'
  return isTime ? Math.floor(value / 1000) : value
}
