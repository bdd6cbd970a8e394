import type { Payload } from '../shared/bridge.js'

/** Who the user is and which conversation is open: in the form of existing web chats. */
export interface Identity {
  conversationId?: string | undefined
  user?: { userId?: string | undefined; userToken?: string | undefined } | undefined
}

/** A message that the server has not confirmed yet. */
export interface Unsent {
  clientMessageId: string
  conversationId: string
  payload: Payload
  createdAt: string
}

/** What the browser keeps of a chat, shared by all tabs; in memory where it keeps nothing. */
export interface ChatStorage {
  readIdentity(): Identity
  writeIdentity(identity: Identity): void
  readUnsent(): Unsent[]
  /** Changes the list under a lock of all tabs. */
  changeUnsent(change: (unsent: Unsent[]) => Unsent[]): Unsent[]
  /** Calls back when another tab changed the unsent messages. */
  onUnsent(listener: () => void): () => void
}

export function createStorage(key: string): ChatStorage {
  const memory = new Map<string, string>()
  const names = { identity: `${key}-client`, unsent: `${key}-unsent` }
  const read = (name: string): string | null => {
    try {
      return localStorage.getItem(name)
    } catch {
      return memory.get(name) ?? null
    }
  }
  const write = (name: string, value: string) => {
    memory.set(name, value)
    try {
      localStorage.setItem(name, value)
    } catch {
      // A browser that keeps nothing: the chat lasts as long as the page.
    }
  }
  const readUnsent = (): Unsent[] => {
    const list = parse(read(names.unsent))
    return Array.isArray(list) ? list : []
  }

  return {
    readIdentity() {
      const state = Object(Object(parse(read(names.identity))).state)
      const { conversationId, user } = state
      const { userId, userToken } = Object(user)
      return {
        conversationId: typeof conversationId === 'string' ? conversationId : undefined,
        ...(typeof userToken === 'string' && { user: { userId, userToken } }),
      }
    },
    writeIdentity: (identity) =>
      write(names.identity, JSON.stringify({ state: identity, version: 0 })),
    readUnsent,
    // Reading and writing without waiting in between: other tabs cannot come in.
    changeUnsent(change) {
      const changed = change(readUnsent())
      write(names.unsent, JSON.stringify(changed))
      return changed
    },
    onUnsent(listener) {
      const hear = ({ key: changed }: StorageEvent) => {
        if (changed === names.unsent) listener()
      }
      addEventListener('storage', hear)
      return () => removeEventListener('storage', hear)
    },
  }
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}

/** Lets one tab at a time do something; where the browser has no locks (pages without https), all at once. */
export async function alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const { locks } = navigator as Partial<Pick<Navigator, 'locks'>>
  return locks === undefined ? await work() : await locks.request(name, work)
}
