import { join } from 'node:path'
import type { Addresses } from '../domain/addresses.js'
import { createBots, purgeBotJob } from '../features/bots/bots/index.js'
import { createIntegrations } from '../features/bots/integrations/index.js'
import { createBotLogs } from '../features/bots/logs/index.js'
import { createActions } from '../features/calls/actions/index.js'
import { createMakers } from '../features/calls/makers/index.js'
import { createRegistration } from '../features/calls/registration/index.js'
import { createTargets, findIntegrationTarget } from '../features/calls/targets/index.js'
import { createWebhooks } from '../features/calls/webhooks/index.js'
import { type Chat, createChat } from '../features/chat/index.js'
import { createDeliveries, pageAttempts } from '../features/deliveries/index.js'
import { createFiles } from '../features/files/index.js'
import { createSearch, type RetrieverWeights } from '../features/search/index.js'
import { createAccess } from '../features/tenancy/access/index.js'
import { createAccounts } from '../features/tenancy/accounts/index.js'
import { createWorkspaces } from '../features/tenancy/workspaces/index.js'
import type { BlobStore } from '../platform/blobs/blob-store.js'
import { openDiskBlobStore } from '../platform/blobs/disk.js'
import { afterCommit } from '../platform/db/after-commit.js'
import type { JobHandler } from '../platform/jobs/handler.js'
import { createSigner } from '../platform/security/signing.js'
import { systemTimers } from '../platform/timers.js'
import { version } from '../version.js'
import type { Foundation } from './context.js'
import { createRuntimeSlices } from './runtime-slices.js'
import type { Closers } from './stop.js'

export type Slices = Awaited<ReturnType<typeof createSlices>>

/** Milliseconds after which an unfinished blob of a shared folder counts as left behind. */
const sharedLeftoverAge = 60 * 60 * 1000

export interface SlicesOptions {
  /** Module that the search threads run: for tests. */
  findEntry?: URL
  /** How much each retriever of search weighs: for measuring what each adds. */
  weights?: RetrieverWeights
}

/** Builds the slices and tells each what it needs of the others. */
export async function createSlices(
  foundation: Foundation,
  addresses: Addresses,
  closers: Pick<Closers, 'add'>,
  { findEntry, weights }: SlicesOptions = {},
) {
  const { config, clock } = foundation
  const accounts = createAccounts(foundation)
  const workspaces = createWorkspaces(foundation)
  const integrations = createIntegrations({ ...foundation, workspaces: workspaces.service })
  const bots = createBots({ ...foundation, addresses, integrations })
  workspaces.service.provideBotCounts(bots.service.countByWorkspace)
  const access = createAccess({
    ...foundation,
    timers: systemTimers,
    workspaces,
    bots,
    integrations,
  })
  const targets = createTargets({
    clock,
    bots: bots.service,
    findInstallationTarget: (receiver) =>
      findIntegrationTarget({ ...foundation, integrations }, receiver),
  })
  const makers = createMakers({ ...foundation, integrations })
  const webhooks = createWebhooks({ ...foundation, integrations })

  const runtime = createRuntimeSlices({
    ...foundation,
    bots,
    makers,
    maxPayloadBytes: config.limits.messageBytes,
    missedEventsMs: config.missedEventsMs,
  })
  const botLogs = createBotLogs({
    ...foundation,
    bots: bots.service,
    retentionMs: config.botLogRetentionMs,
  })
  botLogs.service.provideAttempts(pageAttempts)
  const registration = createRegistration({
    ...foundation,
    addresses,
    bots,
    integrations,
    writeLogLine: botLogs.service.note,
  })
  const deliveries = createDeliveries({
    ...foundation,
    timers: systemTimers,
    events: runtime.events.service,
    messages: runtime.messages.service,
    changes: runtime.changes,
    targets,
    note: botLogs.service.note,
    bots: bots.service,
    alone: config.databaseUrl === undefined,
    leaseMs: config.jobLeaseMs,
    retentionMs: config.deliveryRetentionMs,
    limits: config.limits,
  })
  const chat: Chat = createChat({
    ...foundation,
    sharedSecret: foundation.keys.userKeys,
    userKeyLifetimeMs: config.chatKeyLifetimeMs,
    bots: bots.service,
    users: runtime.users.service,
    conversations: runtime.conversations.service,
    messages: runtime.messages.service,
    botEvents: runtime.events.service,
    audiences: bots.audiences,
    targets,
    maxPayloadBytes: config.limits.messageBytes,
    limits: {
      perProcess: config.limits.listeners,
      perUser: config.limits.listenersPerUser,
      pendingBytes: config.limits.listenerBufferBytes,
    },
    version,
  })
  const actions = createActions({
    ...foundation,
    bots: bots.service,
    retentionMs: config.botLogRetentionMs,
    audiences: bots.audiences,
    targets,
    integrations,
  })
  if (chat.actions) actions.provide(chat.actions)
  deliveries.provideSignals(chat.describeSignal)
  const subscribers = [bots, access, integrations, targets, registration, actions, chat, deliveries]
  for (const { on } of subscribers) if (on) foundation.domainEvents.subscribe(on)
  foundation.domainEvents.subscribe({
    'bot.changed': async (tx, { botId }) => afterCommit(tx, () => deliveries.changed(botId)),
  })

  const blobs = await openBlobs(foundation, { sweep: true })
  const files = createFiles({
    ...foundation,
    addresses,
    signer: createSigner(foundation.keys.fileAddresses, clock),
    blobs,
    timers: systemTimers,
    bots: bots.service,
    reach: access.reach,
    limits: config.limits,
    quotas: { storage: config.limits.storageQuotaBytes, vector: config.limits.vectorQuotaBytes },
  })
  const { limits } = config
  closers.add('waiting for files', async (timeLeft) => {
    await files.stop?.(timeLeft)
  })
  const search = createSearch({
    ...foundation,
    files,
    documentReaders: {
      ...(limits.indexingWorkers !== 'auto' && { workers: limits.indexingWorkers }),
      timeLimitMs: limits.indexingTimeoutMs,
      memoryLimitMb: Math.ceil(limits.indexingMemoryBytes / 2 ** 20),
      maximumOutputBytes: limits.indexingOutputBytes,
      maximumPages: limits.indexingPages,
      maximumUnpackedBytes: limits.indexingUnpackedBytes,
    },
    embeddings: embeddingsOf(config),
    limits: {
      ...config.limits,
      searchesAtOnce: config.searchesAtOnce,
      searchTimeoutMs: config.searchTimeoutMs,
    },
    ...(findEntry && { findEntry }),
    ...(weights && { weights }),
  })
  closers.add('search', async () => {
    await search.stop()
  })
  await search.open()

  const purgeBot: JobHandler<{ botId: string }> = {
    freesRoom: true,
    handler: async ({ payload: { botId } }) => {
      await access.service.purge(botId)
      await botLogs.service.purge(botId)
      await actions.purge?.({ kind: 'bot', id: botId })
      await runtime.purge(botId)
      await deliveries.purge({ kind: 'bot', id: botId })
      await chat.purge?.({ kind: 'bot', id: botId })
      await search.purge({ kind: 'bot', id: botId })
      await files.purge({ kind: 'bot', id: botId })
    },
  }

  return {
    accounts,
    workspaces,
    access,
    chat,
    integrations,
    webhooks,
    runtime,
    deliveries,
    botLogs,
    actions,
    files,
    blobs,
    search,
    jobs: {
      [purgeBotJob]: purgeBot,
      ...runtime.jobs,
      ...registration.jobs,
      ...integrations.jobs,
      ...files.jobs,
      ...search.jobs,
    },
    routes: [
      ...(accounts.routes ?? []),
      ...(workspaces.routes ?? []),
      ...(bots.routes ?? []),
      ...(deliveries.routes ?? []),
      ...(botLogs.routes ?? []),
      ...(access.routes ?? []),
      ...files.routes,
      ...search.routes,
      ...runtime.routes,
      ...(chat.routes ?? []),
      ...(actions.routes ?? []),
      ...(integrations.routes ?? []),
      ...(registration.routes ?? []),
    ],
  }
}

/**
 * File contents, in the data folder or an object store.
 * @param options.sweep removes what interrupted uploads left behind: for the server that owns the folder
 */
export async function openBlobs(
  { config, keys }: Foundation,
  options: { sweep: boolean },
): Promise<BlobStore> {
  if (config.objectStore !== undefined) {
    // Loaded only where it is used: the start without it stays as quick as it is.
    const { openS3BlobStore } = await import('../platform/blobs/s3.js')
    // Leftovers are for the daily sweep, because a start must not wait for a list of the bucket.
    return await openS3BlobStore(config.objectStore, {
      owner: keys.installation.toString('hex'),
    })
  }
  const blobs = await openDiskBlobStore(join(config.dataDir, 'blobs'))
  if (!options.sweep) return blobs
  // With a shared database other processes may be storing in the same folder right now.
  await blobs.sweepTemporary(config.databaseUrl === undefined ? 0 : sharedLeftoverAge)
  return blobs
}

/** The endpoint that the operator named, if there is one; the settings come together or not at all. */
function embeddingsOf(config: Foundation['config']) {
  const { embeddingsUrl: url, embeddingsModel: model, embeddingsApiKey: apiKey } = config
  return url === undefined || model === undefined ? undefined : { url, model, apiKey }
}
