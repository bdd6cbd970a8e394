import type { UsageType } from '@botstead/contract'
import type { Config } from '../../../config/config.js'
import type { StoredLevel, UsageKind } from '../../tenancy/metering/index.js'

/** Where the figures of a type come from. */
export type Source =
  /** Counters, whose days are added up. */
  | { counters: readonly UsageKind[]; unit?: 'seconds' }
  /** What is there at a time: of a period, the last. */
  | { level: StoredLevel }
  /** A limit of one request, of which nothing is used up. */
  | { limit: (config: Pick<Config, 'limits' | 'rateLimit'>) => number | undefined }
  /** What this server does not have. */
  | 'none'

export const sources: Readonly<Record<UsageType, Source>> = {
  invocation_calls: { counters: ['user_messages', 'events'] },
  message_count: { counters: ['user_messages', 'bot_messages'] },
  action_calls: { counters: ['action_calls'] },
  listener_time: { counters: ['listener_time'], unit: 'seconds' },
  hosted_time: { counters: ['hosted_time'], unit: 'seconds' },
  storage_count: { level: 'storage' },
  knowledgebase_vector_storage: { level: 'vectors' },
  indexed_file_count: { level: 'indexed_files' },
  bot_count: { level: 'bots' },
  workspace_member_count: { level: 'members' },
  integrations_owned_count: { level: 'integrations' },
  always_alive: { level: 'always_alive' },
  workspace_ratelimit: { limit: ({ rateLimit }) => rateLimit.perMinute },
  file_max_size_bytes: { limit: ({ limits }) => limits.fileBytes },
  invocation_timeout: { limit: () => undefined },
  table_row_count: 'none',
  ai_spend: 'none',
  openai_spend: 'none',
  bing_search_spend: 'none',
}

/** The kinds of rows of a type. */
export function kindsOf(source: Source): readonly UsageKind[] {
  if (source === 'none' || 'limit' in source) return []
  return 'level' in source ? [source.level] : source.counters
}

/** A stored value in the unit of its type: times are stored in milliseconds. */
export function inUnit(source: Source, value: number): number {
  const isTime = source !== 'none' && 'counters' in source && source.unit === 'seconds'
  return isTime ? Math.floor(value / 1000) : value
}
