export * from './calling.js'
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  encodeQuery,
  toApiError,
} from './client.js'
export * from './contract.js'
export * from './errors.js'
export { readEventStream } from './event-stream.js'
export type { Signal, SignalData } from './follow.js'
export { type FollowOptions, followConversation } from './follow.js'
export { createOpenApi, type OpenApiDocument, type OpenApiOptions } from './openapi/document.js'
export * from './operation.js'
export * from './permissions.js'
export {
  Account,
  BotApiKey,
  IntegrationApiKey,
  NewBotApiKey,
  NewIntegrationApiKey,
  NewPersonalAccessToken,
  PersonalAccessToken,
} from './resources/admin/accounts.js'
export { maxRetried } from './resources/admin/jobs.js'
export { WorkspaceMember } from './resources/admin/members.js'
export {
  botQuotaTypes,
  noQuota,
  quotaTypes,
  type UsageType,
  usageTypes,
} from './resources/admin/usages.js'
export { Workspace, workspaceHandle } from './resources/admin/workspaces.js'
export { installationMembers } from './resources/bots/bot-bodies.js'
export { Bot, BotSummary, botTypes } from './resources/bots/bot-entity.js'
export { maxAllowedOrigins } from './resources/bots/bot-webchat.js'
export { maxListedAttempts } from './resources/bots/delivery-details.js'
export {
  Installation,
  installationStatuses,
  PluginInstallation,
} from './resources/bots/installations.js'
export {
  Integration,
  IntegrationSummary,
  PublicIntegration,
  PublicIntegrationSummary,
} from './resources/bots/integration-entity.js'
export { maxCounted, maxScanned } from './resources/bots/workspace-deliveries.js'
export { ChatConversation, ChatEvent, ChatMessage, ChatUser } from './resources/chat/entities.js'
export { tus } from './resources/files/content.js'
export { searchOutcomes, wordRelations } from './resources/files/explanations.js'
export {
  accessPolicies,
  File,
  fileStatuses,
  IndexingProgress,
  UploadableFile,
} from './resources/files/file-entity.js'
export { fileEventTypes } from './resources/files/file-events.js'
export { FilePassage } from './resources/files/file-passages.js'
export { waitTimeoutDefault } from './resources/files/files.js'
export {
  maxContextDepth,
  maxSearchLimit,
  Passage,
  passageSubtypes,
  passageTypes,
  searchLimitDefault,
} from './resources/files/search.js'
export { Conversation } from './resources/runtime/conversations.js'
export { Event } from './resources/runtime/events.js'
export {
  MessagePayload,
  maxPayloadBytes,
  messagePayloads,
} from './resources/runtime/message-payloads.js'
export { Message } from './resources/runtime/messages.js'
export { State } from './resources/runtime/states.js'
export { User } from './resources/runtime/users.js'
export { Workflow } from './resources/runtime/workflows.js'
export * from './shared.js'
export {
  defaultWebchatSettings,
  maxSuggestedQuestions,
  WebchatSettings,
  WebchatSettingsPatch,
} from './webchat-settings.js'
