import { createContext, use, useSyncExternalStore } from 'react'
import type { Session } from '../client/session.js'
import type { ChatState } from '../client/state.js'
import type { Place } from '../shared/bridge.js'
import { languageOf } from '../shared/look.js'
import { type Words, wordsOf } from '../words/index.js'

interface Chat {
  session: Session
  place: Place
  /** Closes the chat, where it can be closed. */
  close(): void
}

export const ChatContext = createContext<Chat | undefined>(undefined)

/** The chat that is shown. */
export function useChat(): Chat {
  const chat = use(ChatContext)
  if (chat === undefined) throw new Error('There is no chat around this part')
  return chat
}

/** What the chat shows now. */
export function useChatState(): ChatState {
  const { store } = useChat().session
  return useSyncExternalStore(store.subscribe, store.get)
}

export function useWords(): Words {
  return wordsOf[languageOf(useChatState().configuration)]
}
