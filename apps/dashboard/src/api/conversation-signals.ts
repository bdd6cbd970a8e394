import { useEffect, useRef, useSyncExternalStore } from 'react'
import type { Scope } from './client.js'
import { followStream } from './stream.js'

interface SignalsOptions {
  scope: Scope
  id: string
  /** Whether they are listened to. */
  isOn: boolean
  /** Reads what the signals are about; signals that come meanwhile lead to one more reading. */
  onChange: () => Promise<unknown>
}

/**
 * Listens to the signals of a conversation while the page is visible: browsers open few connections to one server,
 * for all tabs together.
 */
export function useConversationSignals({ scope, id, isOn, onChange }: SignalsOptions): void {
  const { workspaceId } = scope
  const isVisible = useSyncExternalStore(watchVisibility, () => !document.hidden)
  const newest = useRef(onChange)
  newest.current = onChange
  const wasHidden = useRef(false)
  useEffect(() => {
    if (!isOn) return
    if (!isVisible) {
      wasHidden.current = true
      return
    }
    const controller = new AbortController()
    const change = oneAtATime(() => newest.current())
    if (wasHidden.current) change()
    wasHidden.current = false
    const path = `/v1/admin/conversations/${encodeURIComponent(id)}/stream`
    const listen = async () => {
      const signals = followStream({ scope: { workspaceId }, path, signal: controller.signal })
      for await (const { type } of signals) {
        // Pieces of a message that is being written are not in the timeline.
        if (!type.startsWith('message_stream_')) change()
      }
    }
    // Refused for good: the timeline is read again every few seconds in any case.
    listen().catch(() => {})
    return () => controller.abort()
  }, [workspaceId, id, isOn, isVisible])
}

function watchVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

/** Does the work again after the present one if it was asked for meanwhile. */
function oneAtATime(work: () => Promise<unknown>): () => void {
  let isBusy = false
  let isAsked = false
  const run = async () => {
    isBusy = true
    do {
      isAsked = false
      // A failed request is repeated at the next signal, or after some seconds.
      await work().catch(() => {})
    } while (isAsked)
    isBusy = false
  }
  return () => {
    isAsked = true
    if (!isBusy) void run()
  }
}
