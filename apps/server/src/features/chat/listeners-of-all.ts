import type { ConversationStreams } from './streams/index.js'

/** The listeners of this process, whatever protocol they speak. */
export interface ListenersOfAll extends Pick<ConversationStreams, 'waitForListeners'> {
  /** Grows whenever users may have been deleted or lost their keys: caches of them are stale. */
  revocations(): number
}

/** Combines the streams of several protocols, whose caches become stale by the same hints. */
export function listenersOfAll(
  first: ConversationStreams,
  second: ConversationStreams,
  revocations: () => number,
): ListenersOfAll {
  return {
    async waitForListeners(conversationId, sequence) {
      await Promise.all([
        first.waitForListeners(conversationId, sequence),
        second.waitForListeners(conversationId, sequence),
      ])
    },
    revocations,
  }
}
