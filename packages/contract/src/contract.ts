import type { Operation } from './operation.js'
import { accounts, tokens } from './resources/admin/accounts.js'
import { audit } from './resources/admin/audit.js'
import { inspection } from './resources/admin/conversations.js'
import { jobs } from './resources/admin/jobs.js'
import { limits } from './resources/admin/limits.js'
import { logs } from './resources/admin/logs.js'
import { botAllowlists, invitations, members } from './resources/admin/members.js'
import { overview } from './resources/admin/overview.js'
import { passkeys } from './resources/admin/passkeys.js'
import { preferences } from './resources/admin/preferences.js'
import { server } from './resources/admin/server.js'
import { service } from './resources/admin/service.js'
import { sessions } from './resources/admin/sessions.js'
import { accountSecurity, signIn } from './resources/admin/sign-in.js'
import { timeline } from './resources/admin/timeline.js'
import { quota, usage } from './resources/admin/usages.js'
import { workspaces } from './resources/admin/workspaces.js'
import { botAnalytics } from './resources/bots/bot-analytics.js'
import { botIssues } from './resources/bots/bot-issues.js'
import { botLogs } from './resources/bots/bot-logs.js'
import { botVersions } from './resources/bots/bot-versions.js'
import { botWebchat } from './resources/bots/bot-webchat.js'
import { bots } from './resources/bots/bots.js'
import { deliveries } from './resources/bots/deliveries.js'
import { deliveryReplays } from './resources/bots/delivery-replays.js'
import { hub } from './resources/bots/integration-hub.js'
import { integrationInstallations } from './resources/bots/integration-installations.js'
import { integrations } from './resources/bots/integrations.js'
import { interfaces } from './resources/bots/interfaces.js'
import { plugins, publicPlugins } from './resources/bots/plugins.js'
import { scripts } from './resources/bots/scripts.js'
import { workspaceDeliveries } from './resources/bots/workspace-deliveries.js'
import { chat } from './resources/chat/index.js'
import { chatSecrets, webchat } from './resources/chat/webchat.js'
import { content, resumable } from './resources/files/content.js'
import { evaluationCases, evaluationRuns, evaluationSets } from './resources/files/evaluations.js'
import { explanations } from './resources/files/explanations.js'
import { fileEvents } from './resources/files/file-events.js'
import { fileFolders } from './resources/files/file-folders.js'
import { filePassages } from './resources/files/file-passages.js'
import { files } from './resources/files/files.js'
import { indexingReports } from './resources/files/indexing-report.js'
import { fileTags, knowledgeBases } from './resources/files/knowledge-bases.js'
import { search } from './resources/files/search.js'
import { actions } from './resources/runtime/actions.js'
import { conversations, tags } from './resources/runtime/conversations.js'
import { events, observations } from './resources/runtime/events.js'
import { messages } from './resources/runtime/messages.js'
import { states } from './resources/runtime/states.js'
import { users } from './resources/runtime/users.js'
import { workflows } from './resources/runtime/workflows.js'

/** Every operation of the HTTP interface, by resource. */
export const contract = {
  accounts,
  tokens,
  sessions,
  signIn,
  accountSecurity,
  passkeys,
  workspaces,
  members,
  invitations,
  audit,
  preferences,
  bots,
  botAllowlists,
  botLogs,
  botVersions,
  botIssues,
  botAnalytics,
  logs,
  limits,
  usage,
  quota,
  overview,
  server,
  deliveries,
  workspaceDeliveries,
  deliveryReplays,
  integrations,
  integrationInstallations,
  hub,
  scripts,
  interfaces,
  plugins,
  publicPlugins,
  files,
  fileTags,
  fileFolders,
  knowledgeBases,
  fileEvents,
  filePassages,
  indexingReports,
  search,
  explanations,
  evaluationSets,
  evaluationCases,
  evaluationRuns,
  users,
  conversations,
  inspection,
  timeline,
  messages,
  events,
  states,
  workflows,
  actions,
  tags,
  observations,
  chat,
  webchat,
  chatSecrets,
  botWebchat,
  content,
  resumable,
  jobs,
  service,
} satisfies Record<string, Record<string, Operation>>

/** Every operation of the HTTP interface in one list. */
export const allOperations: readonly Operation[] = Object.values(contract).flatMap((resource) =>
  Object.values<Operation>(resource),
)
