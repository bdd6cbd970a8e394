import type { Operation } from './operation.js'
import { accounts } from './resources/accounts.js'
import { actions } from './resources/actions.js'
import { botLogs } from './resources/bot-logs.js'
import { bots } from './resources/bots.js'
import { chat } from './resources/chat.js'
import { content } from './resources/content.js'
import { conversations } from './resources/conversations.js'
import { deliveries } from './resources/deliveries.js'
import { events } from './resources/events.js'
import { fileEvents } from './resources/file-events.js'
import { filePassages } from './resources/file-passages.js'
import { fileTags } from './resources/file-tags.js'
import { files } from './resources/files.js'
import { hub } from './resources/integration-hub.js'
import { integrations } from './resources/integrations.js'
import { knowledgeBases } from './resources/knowledge-bases.js'
import { messages } from './resources/messages.js'
import { observations } from './resources/observations.js'
import { packageLists, packageLookups } from './resources/packages.js'
import { resumable } from './resources/resumable.js'
import { search } from './resources/search.js'
import { service } from './resources/service.js'
import { states } from './resources/states.js'
import { tags } from './resources/tags.js'
import { tokens } from './resources/tokens.js'
import { users } from './resources/users.js'
import { workflows } from './resources/workflows.js'
import { workspaces } from './resources/workspaces.js'

/** Every operation of the interface, by resource. */
export const contract = {
  accounts,
  tokens,
  workspaces,
  bots,
  botLogs,
  deliveries,
  integrations,
  hub,
  packageLists,
  packageLookups,
  files,
  fileTags,
  knowledgeBases,
  fileEvents,
  filePassages,
  search,
  users,
  conversations,
  messages,
  events,
  states,
  workflows,
  actions,
  tags,
  observations,
  chat,
  content,
  resumable,
  service,
} satisfies Record<string, Record<string, Operation>>

/** Every operation of the interface in one list. */
export const allOperations: readonly Operation[] = Object.values(contract).flatMap((resource) =>
  Object.values<Operation>(resource),
)
