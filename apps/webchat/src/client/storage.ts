import type { Payload } from '../shared/bridge.js'

/** The user and the open conversation, in the form in which `@botpress/webchat` stores them. */
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
  /** Orders the messages that one tab made in the same millisecond. */
  sequence: number
}

/**
 * The browser's storage of a chat, shared by all tabs; in memory where the browser stores nothing. Each unsent
 * message is an item of its own: tabs can see changes of other tabs late, and would overwrite them in a common list.
 */
export interface ChatStorage {
  readIdentity(): Identity
  writeIdentity(identity: Identity): void
  /** Waits until another tab has stored a user, at most a second. */
  waitForUser(): Promise<void>
  /** Oldest first. */
  readUnsent(): Unsent[]
  putUnsent(message: Unsent): void
  dropUnsent(clientMessageId: string): void
  /** Calls the listener when another tab changed the unsent messages. */
  onUnsentChange(listener: () => void): void
}

/** Milliseconds within which a tab sees what another one stored. */
const visibilityTimeoutMs = 1000

export function createStorage(key: string): ChatStorage {
  const identityName = `${key}-client`
  const unsentPrefix = `${key}-unsent-`
  const { names, read, write, remove } = createItems()

  function readIdentity(): Identity {
    const state = Object(Object(parse(read(identityName))).state)
    const { conversationId, user } = state
    const { userId, userToken } = Object(user)
    return {
      conversationId: typeof conversationId === 'string' ? conversationId : undefined,
      ...(typeof userToken === 'string' && { user: { userId, userToken } }),
    }
  }

  return {
    readIdentity,
    writeIdentity: (identity) =>
      write(identityName, JSON.stringify({ state: identity, version: 0 })),
    waitForUser: () =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          removeEventListener('storage', check)
          resolve()
        }
        const check = () => {
          if (readIdentity().user !== undefined) end()
        }
        const timer = setTimeout(end, visibilityTimeoutMs)
        addEventListener('storage', check)
        check()
      }),
    readUnsent: () =>
      names()
        .filter((name) => name.startsWith(unsentPrefix))
        .flatMap((name): Unsent[] => {
          const message = parse(read(name))
          return Object(message).payload === undefined ? [] : [message as Unsent]
        })
        .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.sequence - b.sequence),
    putUnsent: (message) =>
      write(`${unsentPrefix}${message.clientMessageId}`, JSON.stringify(message)),
    dropUnsent: (id) => remove(`${unsentPrefix}${id}`),
    onUnsentChange(listener) {
      addEventListener('storage', ({ key: changed }) => {
        if (changed === null || changed.startsWith(unsentPrefix)) listener()
      })
    },
  }
}

/** Items in `localStorage`; in the memory of this page where the browser refuses to store them. */
function createItems() {
  const memory = new Map<string, string>()
  const attempt = <Result>(work: () => Result, fallback: () => Result): Result => {
    try {
      return work()
    } catch {
      return fallback()
    }
  }
  return {
    names: () => [
      ...memory.keys(),
      ...attempt(
        () => Object.keys(localStorage),
        () => [],
      ),
    ],
    read: (name: string) =>
      memory.get(name) ??
      attempt(
        () => localStorage.getItem(name),
        () => null,
      ),
    write: (name: string, value: string) =>
      attempt(
        () => {
          localStorage.setItem(name, value)
          memory.delete(name)
        },
        () => void memory.set(name, value),
      ),
    remove(name: string) {
      memory.delete(name)
      attempt(
        () => localStorage.removeItem(name),
        () => {},
      )
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

/**
 * Runs `work` in one tab at a time. Pages without https have no locks; there, all tabs run it at once.
 * @param work receives whether it waited for another tab
 */
export async function withLock<Result>(
  name: string,
  work: (hasWaited: boolean) => Promise<Result>,
): Promise<Result> {
  const { locks } = navigator as Partial<Pick<Navigator, 'locks'>>
  if (locks === undefined) return await work(false)
  const first = await locks.request(name, { ifAvailable: true }, async (lock) =>
    lock === null ? undefined : { result: await work(false) },
  )
  return first === undefined ? await locks.request(name, () => work(true)) : first.result
}
