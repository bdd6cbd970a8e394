import type { Migration } from '../platform/db/migrate.js'
import { accounts } from './0001-accounts.js'
import { workspaces } from './0002-workspaces.js'
import { bots } from './0003-bots.js'
import { usersAndConversations } from './0004-users-and-conversations.js'
import { messages } from './0005-messages.js'
import { files } from './0006-files.js'
import { passages } from './0007-passages.js'
import { jobs } from './0008-jobs.js'
import { eventLog } from './0009-event-log.js'
import { idempotency } from './0010-idempotency.js'
import { sharedContents } from './0011-shared-contents.js'
import { knowledgeBases } from './0012-knowledge-bases.js'
import { resumableUploads } from './0013-resumable-uploads.js'
import { fileHashes } from './0014-file-hashes.js'
import { semanticSpaces } from './0015-semantic-spaces.js'
import { vectorRevisions } from './0016-vector-revisions.js'
import { indexing } from './0017-indexing.js'
import { chat } from './0018-chat.js'
import { chatWebhooks } from './0019-chat-webhooks.js'
import { deliveries } from './0020-deliveries.js'
import { runtimeObjects } from './0021-runtime-objects.js'
import { botEvents } from './0022-bot-events.js'
import { statesAndWorkflows } from './0023-states-and-workflows.js'
import { observations } from './0024-observations.js'
import { deliveryHistory } from './0025-delivery-history.js'
import { botLogs } from './0026-bot-logs.js'
import { integrations } from './0027-integrations.js'
import { vocabulary } from './0028-vocabulary.js'
import { signalDeliveries } from './0030-signal-deliveries.js'
import { objectChanges } from './0032-object-changes.js'
import { actionRuns } from './0033-action-runs.js'
import { deliveriesByReceiver } from './0034-deliveries-by-receiver.js'
import { actionRunsByName } from './0036-action-runs-by-name.js'
import { releasedEvents } from './0040-released-events.js'
import { currentWorkflows } from './0041-current-workflows.js'
import { ownedKnowledgeBases } from './0042-owned-knowledge-bases.js'
import { interruptedJobs } from './0044-interrupted-jobs.js'
import { namesInSearch } from './0046-names-in-search.js'
import { userKeys } from './0047-user-keys.js'
import { headsOfSpaces } from './0048-heads-of-spaces.js'
import { plannerStatistics } from './0049-planner-statistics.js'
import { numbersOfSpaces } from './0050-numbers-of-spaces.js'
import { sessions } from './0051-sessions.js'
import { conversationsForPeople } from './0052-conversations-for-people.js'
import { listsOfDeliveries } from './0054-lists-of-deliveries.js'
import { replaysOfDeliveries } from './0055-replays-of-deliveries.js'
import { workspaceLogs } from './0056-workspace-logs.js'
import { evaluations } from './0057-evaluations.js'
import { wordsOfMessages } from './0058-words-of-messages.js'
import { interfaces } from './0059-interfaces.js'
import { plugins } from './0060-plugins.js'
import { publishedIntegrations } from './0061-published-integrations.js'
import { tunnels } from './0063-tunnels.js'
import { deployments } from './0066-deployments.js'
import { botVersions } from './0067-bot-versions.js'
import { botIssues } from './0068-bot-issues.js'
import { botDays } from './0069-bot-days.js'
import { sharedAddresses } from './0070-shared-addresses.js'
import { alwaysAlive } from './0072-always-alive.js'
import { smallBlobs } from './0073-small-blobs.js'
import { webchat } from './0081-webchat.js'
import { endsOfAttempts } from './0085-ends-of-attempts.js'
import { accountsElsewhere } from './0086-accounts-elsewhere.js'
import { webchatSettings } from './0087-webchat-settings.js'
import { backupRuns } from './0089-backup-runs.js'
import { tracesOfDeliveries } from './0090-traces-of-deliveries.js'
import { tracesOfJobs } from './0090-traces-of-jobs.js'
import { webchatOpenings } from './0091-webchat-openings.js'
import { endsOfCode } from './0120-ends-of-code.js'
import { resolvedErrors } from './0121-resolved-errors.js'
import { provenAccounts } from './0130-proven-accounts.js'
import { leftoversOfWorkspaces } from './0131-leftovers-of-workspaces.js'
import { keysOfPrograms } from './0140-keys-of-programs.js'
import { keptAddresses } from './0157-kept-addresses.js'
import { readingsOfFiles } from './0158-readings-of-files.js'
import { partNumbersInSearch } from './0160-part-numbers-in-search.js'
import { logLines } from './0170-log-lines.js'
import { members } from './0180-members.js'
import { codesInSearch } from './0181-codes-in-search.js'

import { passwords } from './0182-passwords.js'
import { preferences } from './0190-preferences.js'
import { secondFactors } from './0191-second-factors.js'
import { auditLog } from './0200-audit-log.js'
import { scopesOfJobs } from './0205-scopes-of-jobs.js'
import { mail } from './0210-mail.js'
import { singleSignOn } from './0211-single-sign-on.js'
import { passkeys } from './0212-passkeys.js'
import { sessionsByToken } from './0213-sessions-by-token.js'
import { signInsByAddress } from './0214-sign-ins-by-address.js'
import { usage } from './0215-usage.js'

/** The history of the schema, oldest first. Append only: a released migration never changes. */
export const migrations: readonly Migration[] = [
  accounts,
  workspaces,
  bots,
  usersAndConversations,
  messages,
  files,
  passages,
  jobs,
  eventLog,
  idempotency,
  sharedContents,
  knowledgeBases,
  resumableUploads,
  fileHashes,
  semanticSpaces,
  vectorRevisions,
  indexing,
  chat,
  chatWebhooks,
  deliveries,
  runtimeObjects,
  botEvents,
  statesAndWorkflows,
  observations,
  deliveryHistory,
  botLogs,
  integrations,
  vocabulary,
  signalDeliveries,
  objectChanges,
  actionRuns,
  deliveriesByReceiver,
  actionRunsByName,
  releasedEvents,
  currentWorkflows,
  ownedKnowledgeBases,
  interruptedJobs,
  namesInSearch,
  userKeys,
  headsOfSpaces,
  plannerStatistics,
  numbersOfSpaces,
  sessions,
  conversationsForPeople,
  listsOfDeliveries,
  replaysOfDeliveries,
  workspaceLogs,
  evaluations,
  wordsOfMessages,
  interfaces,
  plugins,
  publishedIntegrations,
  tunnels,
  deployments,
  botVersions,
  botIssues,
  botDays,
  sharedAddresses,
  alwaysAlive,
  smallBlobs,
  webchat,
  endsOfAttempts,
  accountsElsewhere,
  webchatSettings,
  backupRuns,
  tracesOfDeliveries,
  tracesOfJobs,
  webchatOpenings,
  endsOfCode,
  resolvedErrors,
  provenAccounts,
  leftoversOfWorkspaces,
  keysOfPrograms,
  keptAddresses,
  readingsOfFiles,
  partNumbersInSearch,
  logLines,
  members,
  codesInSearch,
  passwords,
  preferences,
  secondFactors,
  auditLog,
  scopesOfJobs,
  mail,
  singleSignOn,
  passkeys,
  sessionsByToken,
  signInsByAddress,
  usage,
]
