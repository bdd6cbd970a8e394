import { ApiError } from '@botstead/contract'

export interface ListenerLimits {
  /** Listeners that one user may have at a time in this process. */
  perUser: number
  /** Listeners of all users of this process. */
  perProcess: number
}

export type ListenerSlots = ReturnType<typeof createListenerSlots>

/** Counts the listeners of a process, of all users and of each. */
export function createListenerSlots(limits: ListenerLimits) {
  const countByUser = new Map<string, number>()
  let count = 0

  return {
    /** Counts a listener. Returns the function that releases it; throws `RateLimited` if there are too many. */
    reserve(userId: string): () => void {
      const own = countByUser.get(userId) ?? 0
      if (own >= limits.perUser || count >= limits.perProcess) {
        const whose = own >= limits.perUser ? 'You have' : 'The server has'
        const most = own >= limits.perUser ? limits.perUser : limits.perProcess
        throw new ApiError('RateLimited', `${whose} ${most} open listeners: close some first.`, {
          metadata: { retryAfterSeconds: 5 },
        })
      }
      countByUser.set(userId, own + 1)
      count += 1
      return () => {
        count -= 1
        const left = (countByUser.get(userId) ?? 1) - 1
        if (left > 0) countByUser.set(userId, left)
        else countByUser.delete(userId)
      }
    },

    /** Counts all listeners. */
    count: () => count,
  }
}
