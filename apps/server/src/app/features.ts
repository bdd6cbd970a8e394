import type { SettingInForce } from '../config/config.js'
import type { Addresses } from '../domain/addresses.js'
import { createPorts, type Ports } from '../domain/ports.js'
import { createBots, purgeBotJob } from '../features/bots/bots/index.js'
import { builtInChat } from '../features/bots/built-in-chat/index.js'
import { createDeployments } from '../features/bots/deployments/index.js'
import { createIntegrations } from '../features/bots/integrations/index.js'
import { createInterfaces } from '../features/bots/interfaces/index.js'
import { createIssues } from '../features/bots/issues/index.js'
import { lineReader } from '../features/bots/log-lines/index.js'
import { createBotLogs } from '../features/bots/logs/index.js'
import { createPlugins } from '../features/bots/plugins/index.js'
import { createVersions } from '../features/bots/versions/index.js'
import { createActions } from '../features/calls/actions/index.js'
import { createRegistration } from '../features/calls/registration/index.js'
import { createRemoteCreator } from '../features/calls/remote-creation/index.js'
import { createTargets, findIntegrationTarget } from '../features/calls/targets/index.js'
import { type Chat, createChat } from '../features/chat/index.js'
import { createAnalytics } from '../features/conversations/analytics/index.js'
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
import { attemptReader, createDeliveries, type Deliveries } from '../features/deliveries/index.js'
import { createEvaluation } from '../features/evaluation/index.js'
import type { Feature } from '../features/feature.js'
import { createFiles, type Files } from '../features/files/index.js'
import { createHosting } from '../features/hosting/index.js'
import { createTunnels } from '../features/hosting/tunnels/index.js'
import { createScripts } from '../features/inbound/scripts/index.js'
import { createSharedAddresses } from '../features/inbound/shared-addresses/index.js'
import { createWebhooks } from '../features/inbound/webhooks/index.js'
import { createJobs } from '../features/operations/jobs/index.js'
import { createServerState } from '../features/operations/server/index.js'
import { createSearch, type RetrieverWeights } from '../features/search/index.js'
import { createAccess, createOperatorTokens } from '../features/tenancy/access/index.js'
import { createAccounts } from '../features/tenancy/accounts/index.js'
import { createAudit, createReadings } from '../features/tenancy/audit/index.js'
import { createMail } from '../features/tenancy/mail/index.js'
import { createMembers } from '../features/tenancy/members/index.js'
import { createMetering, type Meter } from '../features/tenancy/metering/index.js'

import { createPasswords, type PasswordCost } from '../features/tenancy/passwords/index.js'
import { createPreferences } from '../features/tenancy/preferences/index.js'
import { createSignIn } from '../features/tenancy/sign-in/index.js'

import { createWorkspaces } from '../features/tenancy/workspaces/index.js'
import { createConversationStream } from '../features/workspace/conversation-stream/index.js'
import { createConversationList } from '../features/workspace/conversations/index.js'
import { createInstallationList } from '../features/workspace/installations/index.js'
import { createLimits } from '../features/workspace/limits/index.js'
import { createLogs } from '../features/workspace/logs/index.js'
import { createMessageSearch } from '../features/workspace/message-search/index.js'
import { createOverview } from '../features/workspace/overview/index.js'
import { createTimeline } from '../features/workspace/timeline/index.js'
import { createUsage } from '../features/workspace/usage/index.js'
import type { ReadinessCheck } from '../http/service-routes.js'
import type { BlobStore } from '../platform/blobs/blob-store.js'
import { createSigner } from '../platform/security/signing.js'
import { version } from '../version.js'
import { createBackupsOf } from './backup.js'
import type { Context } from './context.js'
import {
  chatOptionsOf,
  documentReadersOf,
  embeddingsOf,
  kindsOf,
  serverQuotasOf,
} from './feature-options.js'
import { housekeepingKind } from './housekeeping.js'
import { foldersOf } from './metrics.js'
import { tracedCalls } from './traced-calls.js'

export interface FeaturesOptions {
  /** The settings in force, for the operator. */
  settings?: readonly SettingInForce[]
  /** Module that the search threads run: for tests. */
  findEntry?: URL
  /** Weights of the retrievers: for measuring the contribution of each. */
  weights?: RetrieverWeights
  /** The work of a hash of a password: for tests, which hash many. */
  passwordCost?: PasswordCost | undefined
  /** Ports that slices open for slices built after them; for tests. */
  ports?: Ports
}

/** The parts that every group of slices is built from. */
interface Base {
  context: Context
  addresses: Addresses
  /** Needed by most slices: the database, the time, ids and page tokens, and what counts and limits usage. */
  storage: Pick<Context, 'db' | 'run' | 'dialect' | 'clock' | 'ids' | 'pager' | 'authorities'> & {
    ports: Ports
    meter: Meter
  }
  /** Adds a slice to the list, and subscribes it to the events of others. */
  add<Slice extends Feature>(slice: Slice): Slice
}

/** The whole server, as its operators see it. */
interface Operated {
  list: readonly Feature[]
  checks: () => readonly ReadinessCheck[]
  settings: readonly SettingInForce[]
}

type Bots = ReturnType<typeof addBots>
type Calls = ReturnType<typeof addCalls>
type Conversations = ReturnType<typeof addConversations>

/**
 * Builds the slices in the order of the list, each from what exists already, and subscribes them to each
 * other's events. The type of its dependencies lists what a slice is built from.
 */
export function createFeatures(
  context: Context,
  { blobs, addresses }: { blobs: BlobStore; addresses: Addresses },
  { settings = [], findEntry, weights, passwordCost, ports = createPorts() }: FeaturesOptions = {},
) {
  const { config, log, clock, timers, ids, keys, pager, database, db, run, dialect } = context
  const { authorities, queue, bus, domainEvents } = context
  const { limits } = config
  const list: Feature[] = []

  function add<Slice extends Feature>(slice: Slice): Slice {
    list.push(slice)
    if (slice.on) domainEvents.subscribe(slice.on)
    return slice
  }

  const serverQuotas = serverQuotasOf(limits)
  const { meter } = add(
    createMetering({ db, run, clock, timers, log, queue, domainEvents, ports, serverQuotas }),
  )
  const storage = { db, run, dialect, clock, ids, pager, authorities, ports, meter }
  const base: Base = { context, addresses, storage, add }
  const bots = addBots(base, passwordCost)
  const calls = addCalls(base, bots)
  const conversations = addConversations(base, { ...bots, ...calls })
  const deliveries = addDeliveries(base, { ...bots, ...calls, ...conversations })

  // Files. No content is deleted while a backup is made.
  const backups = add(createBackupsOf(context, blobs))
  const files = add(
    createFiles({
      ...storage,
      timers,
      queue,
      bus,
      blobs,
      addresses,
      signer: createSigner(keys.fileAddresses, clock),
      bots: bots.bots.service,
      reach: bots.access.reach,
      isBackupRunning: backups.isRunning,
      limits,
      quotas: meter,
    }),
  )
  const chat = addChat(base, { ...bots, ...calls, ...conversations, deliveries, files })
  addWorkspaceViews(base, { ...bots, ...calls, ...conversations, chat })
  const search = add(
    createSearch({
      database,
      clock,
      ids,
      queue,
      pager,
      log,
      files,
      documentReaders: documentReadersOf(limits),
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
  const { service, load } = search
  add(createEvaluation({ ...storage, queue, log, ask: service.ask, load, limits }))
  addOperations(base, bots, { list, checks, settings })

  /** Checks of readiness of all slices. */
  function checks(): readonly ReadinessCheck[] {
    return [
      { name: 'database', check: () => database.check() },
      ...list.flatMap((feature) => feature.checks ?? []),
    ]
  }

  ports.requireFilled()
  for (const feature of list) if (feature.actions) calls.actions.provide(feature.actions)
  return {
    list,
    checks: checks(),
    accounts: bots.accounts,
    members: bots.members,
    passwords: bots.passwords,
    workspaces: bots.workspaces,
    access: bots.access,
    noteReading: createReadings({ ...storage, log }),
    operatorTokens: createOperatorTokens({ ...storage, accounts: bots.accounts.service }),
    bots: bots.bots,
    ...conversations,
    chat,
  }
}

/** Tenants, and the declarations of their bots and integrations. */
function addBots(
  { context, addresses, storage, add }: Base,
  passwordCost: PasswordCost | undefined,
) {
  const { config, log, clock, timers, keys, sealer, database, queue, domainEvents } = context
  const { limits, botLogRetentionMs: retentionMs } = config
  const accounts = add(createAccounts(storage))
  const passwords = add(createPasswords({ ...storage, accounts, cost: passwordCost }))
  const mail = add(createMail({ ...storage, queue, sealer, mail: config.mail }))
  const members = add(createMembers({ ...storage, domainEvents, accounts, addresses, mail }))
  const workspaces = add(createWorkspaces({ ...storage, domainEvents, members }))
  add(createPreferences(storage))
  const deployments = add(createDeployments({ ...storage, sealer, domainEvents }))
  const defining = {
    ...storage,
    log,
    sealer,
    queue,
    domainEvents,
    workspaces: workspaces.service,
    deployments: deployments.service,
  }
  const interfaces = add(createInterfaces(defining))
  // Integrations declare scripts.
  const scripts = add(createScripts({ clock, log }))
  const integrations = add(createIntegrations({ ...defining, interfaces, scripts }))
  const plugins = add(createPlugins({ ...defining, interfaces, integrations }))
  const bots = add(createBots({ ...defining, database, addresses, integrations, plugins }))
  const access = add(
    createAccess({
      ...storage,
      timers,
      log,
      accounts,
      members,
      passwords,
      workspaces,
      deployments,
      bots,
      integrations,
      builtInId: builtInChat.id,
      sessionLifetimeMs: config.sessionLifetimeMs,
      alone: config.databaseUrl === undefined,
    }),
  )
  const { standing } = access
  const auditing = { ...storage, workspaces, accounts, standing }
  add(createAudit({ ...auditing, retentionMs: config.auditRetentionMs }))
  add(
    createSignIn({
      ...storage,
      queue,
      domainEvents,
      sealer,
      addresses,
      accounts,
      mail,
      members,
      passwords,
      access,
      singleSignOn: config.singleSignOn,
      outgoing: context.outgoing,
    }),
  )
  const botLogs = add(createBotLogs({ ...storage, queue, bots: bots.service, retentionMs }))
  const issues = add(
    createIssues({
      ...storage,
      log,
      retentionMs,
      botProfiles: bots.botProfiles,
      bots: bots.service,
    }),
  )
  add(
    createVersions({
      ...storage,
      limits,
      addresses,
      signer: createSigner(keys.codeAddresses, clock),
      bots: bots.service,
      deployments: deployments.service,
      botLogs: botLogs.service,
    }),
  )
  return {
    accounts,
    members,
    passwords,
    workspaces,
    deployments,
    scripts,
    integrations,
    bots,
    access,
    botLogs,
    issues,
  }
}

/** Calls to the servers of bots and integrations, and to their code that runs here. */
function addCalls(
  { context, addresses, storage, add }: Base,
  { deployments, scripts, integrations, bots, access, botLogs, issues }: Bots,
) {
  const { config, log, timers, bus, keys, sealer, queue, tracing, domainEvents } = context
  const { writeLine: writeLogLine } = botLogs.service
  const tunnels = add(
    createTunnels({
      ...storage,
      timers,
      bus,
      log,
      sealer,
      addresses,
      integrations,
      bots: bots.service,
      outgoing: context.outgoing,
      limits: config.tunnels,
      leaseMs: config.jobLeaseMs,
    }),
  )
  const programs = add(
    createHosting({
      ...storage,
      timers,
      bus,
      log,
      limits: config.limits,
      hosting: config.hosting,
      outgoing: config.outgoing,
      logLevel: config.logLevel === 'debug' ? 'debug' : 'info',
      installation: keys.installation,
      addresses,
      deployments: deployments.service,
      deploymentKeys: access.deploymentKeys,
      bots: bots.service,
      integrations,
      botLogs: botLogs.service,
      issues: issues.service,
    }),
  )
  const { outgoing, hosting } = tracedCalls(tracing, tunnels.outgoing, programs)
  const called = { outgoing, hosting, integrations, bots: bots.service }
  const calling = { ...storage, ...called, log, sealer, addresses, domainEvents }
  const targets = add(
    createTargets({
      ...calling,
      findInstallationTarget: (receiver) => findIntegrationTarget(calling, receiver),
    }),
  )
  add(createRegistration({ ...calling, bots, queue, writeLogLine }))
  const sharedAddresses = add(createSharedAddresses({ ...calling, writeLogLine }))
  add(createWebhooks({ ...calling, scripts, sharedAddresses }))
  const { botProfiles } = bots
  const retentionMs = config.botLogRetentionMs
  const actions = add(createActions({ ...calling, botProfiles, targets, retentionMs }))
  return { outgoing, hosting, targets, actions, remoteCreator: createRemoteCreator(calling) }
}

/** Users, conversations, messages and all else that happens in bots. */
function addConversations(
  { context, storage, add }: Base,
  { bots, integrations, remoteCreator }: Bots & Calls,
) {
  const { config, publisher, queue, domainEvents } = context
  const inBots = {
    ...storage,
    queue,
    domainEvents,
    botProfiles: bots.botProfiles,
    maxPayloadBytes: config.limits.messageBytes,
  }
  add(createTags(storage))
  const changes = add(createChanges({ ...storage, domainEvents }))
  const events = add(createEvents({ ...inBots, missedEventsMs: config.missedEventsMs }))
  const users = add(createUsers({ ...inBots, remoteCreator, events: events.service }))
  const conversations = add(
    createConversations({
      ...inBots,
      remoteCreator,
      publisher,
      changes,
      events: events.service,
      users: users.service,
      chatAlias: builtInChat.alias,
    }),
  )
  const inConversations = {
    ...inBots,
    events: events.service,
    users: users.service,
    conversations: conversations.service,
  }
  const messages = add(createMessages({ ...inConversations, publisher, changes }))
  add(createWorkflows(inConversations))
  add(createStates({ ...inBots, integrations, events: events.service }))
  const recurring = add(createRecurring({ ...inBots, bots: bots.service, events: events.service }))
  add(createObservations({ ...inBots, events: events.service }))
  add(createAnalytics({ ...storage, queue, bots: bots.service }))
  return { changes, events, users, conversations, messages, recurring }
}

/** Notifications of bots, integrations and chat users. */
function addDeliveries({ context, storage, add }: Base, built: Bots & Calls & Conversations) {
  const { config, log, timers, bus, queue, tracing, domainEvents } = context
  const { bots, botLogs, issues, outgoing, hosting, targets, events, messages, changes } = built
  return add(
    createDeliveries({
      ...storage,
      timers,
      queue,
      bus,
      log,
      tracing,
      outgoing,
      hosting,
      domainEvents,
      bots: bots.service,
      botLogs: botLogs.service,
      issues: issues.service,
      events: events.service,
      messages: messages.service,
      changes,
      targets,
      writeLogLine: botLogs.service.writeLine,
      alone: config.databaseUrl === undefined,
      leaseMs: config.jobLeaseMs,
      retentionMs: config.deliveryRetentionMs,
      limits: config.limits,
    }),
  )
}

function addChat(
  { context, addresses, storage, add }: Base,
  built: Bots & Calls & Conversations & { deliveries: Deliveries; files: Files },
) {
  const { config, log, timers, bus, publisher, queue, tracing, domainEvents } = context
  const { bots, targets, events, users, conversations, messages, deliveries, files } = built
  return add(
    createChat({
      ...storage,
      queue,
      domainEvents,
      botProfiles: bots.botProfiles,
      maxPayloadBytes: config.limits.messageBytes,
      events: events.service,
      users: users.service,
      conversations: conversations.service,
      tracing,
      timers,
      bus,
      log,
      publisher,
      bots: bots.service,
      messages: messages.service,
      targets,
      deliveries,
      files: files.ofUsers,
      publicAddresses: addresses,
      ...chatOptionsOf(context),
      version,
    }),
  )
}

/** Views across the bots of a workspace, for its members. */
function addWorkspaceViews(
  { context, addresses, storage, add }: Base,
  built: Bots & Calls & Conversations & { chat: Chat },
): void {
  const { config, log, timers, db, pager, queue } = context
  const { accounts, workspaces, access, users, messages, targets, outgoing, hosting, chat } = built
  const bots = built.bots.service
  const { standing, memberships } = access
  add(
    createUsage({
      ...storage,
      config,
      serverQuotas: serverQuotasOf(config.limits),
      queue,
      bots,
      integrations: built.integrations.service,
      members: built.members.service,
      workspaces: workspaces.service,
      memberships,
      standing,
    }),
  )
  const inspecting = { ...storage, standing, bots, users: users.service }
  const search = add(createMessageSearch({ ...storage, timers, log }))
  const { service: conversations } = add(createConversationList({ ...inspecting, search }))
  add(createTimeline({ ...inspecting, conversations, messages: messages.service }))
  add(createConversationStream({ ...inspecting, conversations, streams: chat.streams }))
  const readers = [lineReader, attemptReader]
  const ofWorkspaces = { bots, integrations: built.integrations.service }
  add(
    createOverview({
      ...storage,
      queue,
      readers,
      folders: foldersOf(context),
      accounts: accounts.service,
      ...ofWorkspaces,
      targets,
      outgoing,
      hosting,
      retentionMs: config.botLogRetentionMs,
    }),
  )
  add(
    createLimits({
      db,
      clock: storage.clock,
      config,
      memberships,
      workspaces: workspaces.service,
      ...ofWorkspaces,
    }),
  )
  add(createInstallationList({ db, pager, addresses, ...ofWorkspaces }))
  add(createLogs({ ...storage, timers, log, readers, ...ofWorkspaces, standing }))
}

/** The state of the server and its jobs, for its operators. */
function addOperations(
  { context, addresses, storage, add }: Base,
  { accounts }: Bots,
  { list, checks, settings }: Operated,
): void {
  const { config, timers, queue } = context
  add(
    createServerState({
      ...storage,
      timers,
      version,
      settings,
      addresses,
      hasObjectStore: config.objectStore !== undefined,
      folders: foldersOf(context),
      accounts: accounts.service,
      checks,
    }),
  )
  add(
    createJobs({
      ...storage,
      queue,
      accounts: accounts.service,
      kinds: () => [
        ...list.flatMap(kindsOf),
        { kind: purgeBotJob, everyMs: undefined },
        housekeepingKind,
      ],
    }),
  )
}
