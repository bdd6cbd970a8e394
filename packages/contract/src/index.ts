export * from './calling.js'
export { type CallOptions, type Client, type ClientOptions, createClient } from './client.js'
export * from './contract.js'
export * from './error-body.js'
export * from './errors.js'
export { type FollowOptions, followConversation } from './follow.js'
export { createOpenApi, type OpenApiDocument, type OpenApiOptions } from './openapi/document.js'
export * from './operation.js'
export { Account } from './resources/accounts.js'
export { installationMembers } from './resources/bot-bodies.js'
export { Bot, BotSummary, botTypes } from './resources/bot-entity.js'
export { ChatConversation, ChatEvent, ChatMessage, ChatUser } from './resources/chat-entities.js'
export { Conversation } from './resources/conversations.js'
export { Event } from './resources/events.js'
export { accessPolicies, File, fileStatuses, UploadableFile } from './resources/file-entity.js'
export { fileEventTypes } from './resources/file-events.js'
export { FilePassage } from './resources/file-passages.js'
export { waitTimeoutDefault } from './resources/files.js'
export { IndexingProgress } from './resources/indexing.js'
export {
  Installation,
  installationStatuses,
  PluginInstallation,
} from './resources/installations.js'
export {
  Integration,
  IntegrationSummary,
  PublicIntegration,
  PublicIntegrationSummary,
} from './resources/integration-entity.js'
export { MessagePayload, maxPayloadBytes, messagePayloads } from './resources/message-payloads.js'
export { Message } from './resources/messages.js'
export { tus } from './resources/resumable.js'
export {
  contextDepthMaximum,
  Passage,
  passageSubtypes,
  passageTypes,
  searchLimitDefault,
  searchLimitMaximum,
} from './resources/search.js'
export { State } from './resources/states.js'
export {
  BotApiKey,
  IntegrationApiKey,
  NewBotApiKey,
  NewIntegrationApiKey,
  NewPersonalAccessToken,
  PersonalAccessToken,
} from './resources/tokens.js'
export { User } from './resources/users.js'
export { Workflow } from './resources/workflows.js'
export { Workspace } from './resources/workspaces.js'
export * from './shared.js'
export type { Signal, SignalData } from './signals.js'
