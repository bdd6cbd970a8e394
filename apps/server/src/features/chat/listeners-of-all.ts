import type { ConversationStreams } from './streams/index.js'

/** The listeners of this process, whatever protocol they speak. */
export type ListenersOfAll = Pick<ConversationStreams, 'waitForListeners' | 'revocations'>

/** Combines the streams of several protocols, whose caches become stale by the same hints. */
export function listenersOfAll(
  first: ConversationStreams,
  second: ConversationStreams,
): ListenersOfAll {
  return {
    async waitForListeners(conversationId, sequence) {
      await Promise.all([
        first.waitForListeners(conversationId, sequence),
        second.waitForListeners(conversationId, sequence),
      ])
    },
    revocations: first.revocations,
  }
}
