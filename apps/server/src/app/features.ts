import type { Addresses } from '../domain/addresses.js'
import { createBots } from '../features/bots/bots/index.js'
import { builtInChat } from '../features/bots/installations/index.js'
import { createIntegrations } from '../features/bots/integrations/index.js'
import { createBotLogs } from '../features/bots/logs/index.js'
import { createActions } from '../features/calls/actions/index.js'
import { createRegistration } from '../features/calls/registration/index.js'
import { createRemoteCreator } from '../features/calls/remote-creation/index.js'
import { createTargets, findIntegrationTarget } from '../features/calls/targets/index.js'
import { createWebhooks } from '../features/calls/webhooks/index.js'
import { createChat } from '../features/chat/index.js'
import { createConversations } from '../features/conversations/conversations/index.js'
import { createEvents } from '../features/conversations/events/index.js'
import { createMessages } from '../features/conversations/messages/index.js'
import { createChanges } from '../features/conversations/object-changes/index.js'
import { createObservations } from '../features/conversations/observations/index.js'
import { createRecurring } from '../features/conversations/recurring/index.js'
import { createStates } from '../features/conversations/states/index.js'
import { createTags } from '../features/conversations/tags/index.js'
import { createUsers } from '../features/conversations/users/index.js'
import { createWorkflows } from '../features/conversations/workflows/index.js'
import { createDeliveries } from '../features/deliveries/index.js'
import type { Feature } from '../features/feature.js'
import { createFiles } from '../features/files/index.js'
import { createSearch, type RetrieverWeights } from '../features/search/index.js'
import { createAccess, createOperatorTokens } from '../features/tenancy/access/index.js'
import { createAccounts } from '../features/tenancy/accounts/index.js'
import { createWorkspaces } from '../features/tenancy/workspaces/index.js'
import type { BlobStore } from '../platform/blobs/blob-store.js'
import { createSigner } from '../platform/security/signing.js'
import { version } from '../version.js'
import type { Context } from './context.js'

export interface FeaturesOptions {
  /** Module that the search threads run: for tests. */
  findEntry?: URL
  /** How much each retriever weighs: for measuring what each adds. */
  weights?: RetrieverWeights
}

/**
 * Builds the slices in the order of the list, each from named dependencies that exist already, and subscribes
 * them to each other's events. A new slice is one more line here.
 */
export function createFeatures(
  context: Context,
  { blobs, addresses }: { blobs: BlobStore; addresses: Addresses },
  { findEntry, weights }: FeaturesOptions = {},
) {
  const { config, log, clock, timers, ids, keys, sealer, pager } = context
  const { database, dialect, db, run, bus, events, queue, domainEvents, outgoing } = context
  const { limits } = config
  const maxPayloadBytes = limits.messageBytes
  const list: Feature[] = []

  function add<Slice extends Feature>(slice: Slice): Slice {
    list.push(slice)
    if (slice.on) domainEvents.subscribe(slice.on)
    return slice
  }

  // Tenants and their definitions.
  const accounts = add(createAccounts({ db, run, clock, ids }))
  const workspaces = add(createWorkspaces({ db, run, dialect, clock, ids, pager, domainEvents }))
  const integrations = add(
    createIntegrations({
      db,
      run,
      clock,
      log,
      ids,
      sealer,
      pager,
      queue,
      domainEvents,
      workspaces: workspaces.service,
    }),
  )
  const bots = add(
    createBots({
      db,
      run,
      clock,
      log,
      ids,
      sealer,
      pager,
      queue,
      database,
      domainEvents,
      addresses,
      workspaces: workspaces.service,
      integrations,
    }),
  )
  const access = add(
    createAccess({ db, run, clock, timers, ids, log, workspaces, bots, integrations }),
  )
  const botLogs = add(
    createBotLogs({
      db,
      run,
      clock,
      ids,
      pager,
      bots: bots.service,
      retentionMs: config.botLogRetentionMs,
    }),
  )

  // Calls to the servers of bots and integrations.
  const targets = add(
    createTargets({
      clock,
      bots: bots.service,
      findInstallationTarget: (receiver) =>
        findIntegrationTarget({ db, sealer, integrations }, receiver),
    }),
  )
  add(
    createRegistration({
      db,
      run,
      clock,
      queue,
      outgoing,
      sealer,
      addresses,
      bots,
      integrations,
      writeLogLine: botLogs.service.writeLine,
    }),
  )
  const remoteCreator = createRemoteCreator({ db, clock, sealer, outgoing, integrations })
  add(createWebhooks({ db, run, clock, sealer, outgoing, integrations }))
  const actions = add(
    createActions({
      db,
      run,
      clock,
      ids,
      log,
      pager,
      outgoing,
      bots: bots.service,
      botProfiles: bots.botProfiles,
      targets,
      integrations,
      retentionMs: config.botLogRetentionMs,
    }),
  )

  // What happens in bots.
  const { botProfiles } = bots
  add(createTags({ db, run, pager }))
  const changes = add(createChanges({ run, clock, ids, domainEvents }))
  const botEvents = add(
    createEvents({
      db,
      run,
      clock,
      ids,
      queue,
      pager,
      botProfiles,
      domainEvents,
      missedEventsMs: config.missedEventsMs,
      maxPayloadBytes,
    }),
  )
  const users = add(
    createUsers({
      db,
      run,
      dialect,
      clock,
      ids,
      pager,
      botProfiles,
      remoteCreator,
      domainEvents,
      events: botEvents.service,
    }),
  )
  const conversations = add(
    createConversations({
      db,
      run,
      dialect,
      clock,
      ids,
      pager,
      botProfiles,
      remoteCreator,
      domainEvents,
      changes,
      events,
      botEvents: botEvents.service,
      users: users.service,
      chatAlias: builtInChat.alias,
    }),
  )
  const messages = add(
    createMessages({
      db,
      run,
      dialect,
      clock,
      ids,
      pager,
      queue,
      botProfiles,
      domainEvents,
      changes,
      events,
      botEvents: botEvents.service,
      users: users.service,
      conversations: conversations.service,
      maxPayloadBytes,
    }),
  )
  add(
    createWorkflows({
      db,
      run,
      dialect,
      clock,
      ids,
      pager,
      queue,
      botProfiles,
      domainEvents,
      events: botEvents.service,
      users: users.service,
      conversations: conversations.service,
      maxPayloadBytes,
    }),
  )
  add(
    createStates({
      db,
      run,
      dialect,
      clock,
      ids,
      queue,
      botProfiles,
      events: botEvents.service,
      maxPayloadBytes,
    }),
  )
  const recurring = add(
    createRecurring({
      run,
      clock,
      queue,
      botProfiles,
      bots: bots.service,
      events: botEvents.service,
      maxPayloadBytes,
    }),
  )
  add(createObservations({ db, run, clock, ids, events: botEvents.service, maxPayloadBytes }))

  // Notifications of bots, integrations and chat users.
  const deliveries = add(
    createDeliveries({
      db,
      run,
      clock,
      timers,
      ids,
      pager,
      bus,
      log,
      outgoing,
      domainEvents,
      bots: bots.service,
      botLogs: botLogs.service,
      events: botEvents.service,
      messages: messages.service,
      changes,
      targets,
      writeLogLine: botLogs.service.writeLine,
      alone: config.databaseUrl === undefined,
      leaseMs: config.jobLeaseMs,
      retentionMs: config.deliveryRetentionMs,
      limits,
    }),
  )
  const chat = add(
    createChat({
      db,
      run,
      clock,
      timers,
      pager,
      bus,
      log,
      events,
      domainEvents,
      bots: bots.service,
      botProfiles,
      users: users.service,
      conversations: conversations.service,
      messages: messages.service,
      botEvents: botEvents.service,
      targets,
      deliveries,
      sharedSecret: keys.userKeys,
      userKeyLifetimeMs: config.chatKeyLifetimeMs,
      maxPayloadBytes,
      limits: {
        perProcess: limits.listeners,
        perUser: limits.listenersPerUser,
        pendingBytes: limits.listenerBufferBytes,
      },
      version,
    }),
  )

  // Files and the search in them.
  const files = add(
    createFiles({
      db,
      run,
      dialect,
      clock,
      timers,
      ids,
      pager,
      queue,
      bus,
      blobs,
      addresses,
      signer: createSigner(keys.fileAddresses, clock),
      bots: bots.service,
      reach: access.reach,
      limits,
      quotas: { storage: limits.storageQuotaBytes, vector: limits.vectorQuotaBytes },
    }),
  )
  add(
    createSearch({
      database,
      clock,
      ids,
      queue,
      pager,
      log,
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
        ...limits,
        searchesAtOnce: config.searchesAtOnce,
        searchTimeoutMs: config.searchTimeoutMs,
      },
      ...(findEntry && { findEntry }),
      ...(weights && { weights }),
    }),
  )

  for (const feature of list) if (feature.actions) actions.provide(feature.actions)
  const operatorTokens = createOperatorTokens({ db, run, clock, ids, accounts: accounts.service })
  return {
    list,
    accounts,
    workspaces,
    access,
    operatorTokens,
    bots,
    changes,
    botEvents,
    users,
    conversations,
    messages,
    recurring,
    chat,
    files,
  }
}

/** The embeddings endpoint, if configured; its settings are set together or not at all. */
function embeddingsOf(config: Context['config']) {
  const { embeddingsUrl: url, embeddingsModel: model, embeddingsApiKey: apiKey } = config
  return url === undefined || model === undefined ? undefined : { url, model, apiKey }
}
