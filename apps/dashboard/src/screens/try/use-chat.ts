import { useEffect, useState } from 'react'
import { addMessages, afterSignal, emptyChat } from './chat-state.js'
import { follow, type Guest, listMessages, say } from './queries.js'

/** The chat of a guest, live. */
export function useChat(guest: Guest) {
  const [state, setState] = useState(emptyChat)
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const load = async () => {
      const messages = await listMessages(guest, signal)
      setState((before) => addMessages(before, messages))
    }
    const listen = async () => {
      await load()
      for await (const next of follow(guest, signal)) {
        if (next.type === 'reset') await load()
        else setState((before) => afterSignal(before, next))
      }
    }
    listen().catch((reason: unknown) => {
      if (!signal.aborted) setError(reason)
    })
    return () => controller.abort()
  }, [guest])
  return {
    ...state,
    error,
    say: async (text: string) => {
      const message = await say(guest, text)
      setState((before) => addMessages(before, [message]))
    },
  }
}
