import { createContext, use, useSyncExternalStore } from 'react'
import type { Session } from '../client/session.js'
import type { ChatState } from '../client/state.js'
import { languageOf } from '../shared/appearance.js'
import type { Layout } from '../shared/bridge.js'
import { type Translation, translations } from '../translations/index.js'

interface Chat {
  session: Session
  layout: Layout
  /** Whether the header has a button that closes the chat. */
  canClose: boolean
  /** Closes the chat, like the button of the page. */
  close(): void
}

export const ChatContext = createContext<Chat | undefined>(undefined)

/** The chat around a component; throws outside of one. */
export function useChat(): Chat {
  const chat = use(ChatContext)
  if (chat === undefined) throw new Error('This component must be inside of ChatContext')
  return chat
}

/** The present state of the chat; renders again when it changes. */
export function useChatState(): ChatState {
  const { store } = useChat().session
  return useSyncExternalStore(store.subscribe, store.get)
}

/** The texts of the chat in its language. */
export function useTranslation(): Translation {
  return translations[languageOf(useChatState().configuration)]
}
