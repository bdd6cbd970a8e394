import type { Callers } from './callers.js'
import { type ConversationOperationsDeps, conversationOperations } from './conversations.js'
import { type EventOperationsDeps, eventOperations } from './events.js'
import { type ListenOperationsDeps, listenOperations } from './listening.js'
import { type MessageOperationsDeps, messageOperations } from './messages.js'
import { type ParticipantOperationsDeps, participantOperations } from './participants.js'
import type { UserKeys } from './user-keys.js'
import { userOperations } from './users.js'

export interface ChatServiceDeps
  extends ConversationOperationsDeps,
    EventOperationsDeps,
    MessageOperationsDeps,
    ParticipantOperationsDeps,
    Omit<ListenOperationsDeps, 'listening'> {
  keys: UserKeys
  listening: ListenOperationsDeps['listening'] & MessageOperationsDeps['listening']
}

export type ChatService = ReturnType<typeof createChatService>

/** Everything that is done at chat addresses. */
export function createChatService(deps: ChatServiceDeps, callers: Callers) {
  return {
    ...userOperations(deps, callers),
    ...conversationOperations(deps, callers),
    ...participantOperations(deps, callers),
    ...messageOperations(deps, callers),
    ...eventOperations(deps, callers),
    ...listenOperations(deps, callers),
  }
}
