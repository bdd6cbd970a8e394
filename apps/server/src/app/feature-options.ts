import type { Feature } from '../features/feature.js'
import type { KnownKind } from '../features/operations/jobs/index.js'
import type { ServerQuotas } from '../features/tenancy/metering/index.js'
import type { Context } from './context.js'

/** The kinds of jobs of a slice. */
export function kindsOf({ jobs }: Feature): KnownKind[] {
  return Object.entries(jobs ?? {}).map(([kind, { everyMs }]) => ({ kind, everyMs }))
}

/** Limits of the processes that read documents. */
export function documentReadersOf(limits: Context['config']['limits']) {
  return {
    ...(limits.indexingWorkers !== 'auto' && { workers: limits.indexingWorkers }),
    timeLimitMs: limits.indexingTimeoutMs,
    memoryLimitMb: Math.ceil(limits.indexingMemoryBytes / 2 ** 20),
    maxOutputBytes: limits.indexingOutputBytes,
    maxPages: limits.indexingPages,
    maxUnpackedBytes: limits.indexingUnpackedBytes,
  }
}

/** The quotas of every workspace. */
export function serverQuotasOf(limits: Context['config']['limits']): ServerQuotas {
  return {
    storage_count: limits.storageQuotaBytes,
    knowledgebase_vector_storage: limits.vectorQuotaBytes,
    ...(limits.callQuota !== undefined && { invocation_calls: limits.callQuota }),
  }
}

/** The embeddings endpoint, if configured; its settings are set together or not at all. */
export function embeddingsOf(config: Context['config']) {
  const { embeddingsUrl: url, embeddingsModel: model, embeddingsApiKey: apiKey } = config
  return url === undefined || model === undefined ? undefined : { url, model, apiKey }
}

/** Secrets and limits of the chat. */
export function chatOptionsOf({ config, keys }: Context) {
  const { limits } = config
  return {
    sharedSecret: keys.userKeys,
    secretsKey: keys.chatSecrets,
    userKeyLifetimeMs: config.chatKeyLifetimeMs,
    limits: {
      perProcess: limits.listeners,
      perUser: limits.listenersPerUser,
      pendingBytes: limits.listenerBufferBytes,
    },
    fileLimits: {
      bytes: limits.chatFileBytes,
      allBytes: limits.chatFilesBytes,
      types: config.chatFileTypes,
    },
  }
}
