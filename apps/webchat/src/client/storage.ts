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
  /** Order of those that one tab made in the same millisecond. */
  sequence: number
}

/**
 * What the browser keeps of a chat, shared by all tabs; in memory where it keeps nothing. Each unsent message
 * has a place of its own: tabs can see each other's changes late, and would undo them in a common list.
 */
export interface ChatStorage {
  readIdentity(): Identity
  writeIdentity(identity: Identity): void
  /** Waits until another tab has stored a user, but not for long. */
  untilIdentified(): Promise<void>
  /** Oldest first. */
  readUnsent(): Unsent[]
  putUnsent(message: Unsent): void
  dropUnsent(clientMessageId: string): void
  /** Calls back when another tab changed the unsent messages. */
  onUnsent(listener: () => void): void
}

/** Milliseconds in which a tab sees what another one stored. */
const visibleWithin = 1000

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
    untilIdentified: () =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          removeEventListener('storage', look)
          resolve()
        }
        const look = () => {
          if (readIdentity().user !== undefined) end()
        }
        const timer = setTimeout(end, visibleWithin)
        addEventListener('storage', look)
        look()
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
    onUnsent(listener) {
      addEventListener('storage', ({ key: changed }) => {
        if (changed === null || changed.startsWith(unsentPrefix)) listener()
      })
    },
  }
}

/** Items of the browser, or of this page alone where the browser keeps none or has no room. */
function createItems() {
  const memory = new Map<string, string>()
  const attempt = <Result>(work: () => Result, otherwise: () => Result): Result => {
    try {
      return work()
    } catch {
      return otherwise()
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
 * Lets one tab at a time do something; where the browser has no locks (pages without https), all at once.
 * @param work is told whether another tab did it just before
 */
export async function alone<Result>(
  name: string,
  work: (isLater: boolean) => Promise<Result>,
): Promise<Result> {
  const { locks } = navigator as Partial<Pick<Navigator, 'locks'>>
  if (locks === undefined) return await work(false)
  const first = await locks.request(name, { ifAvailable: true }, async (lock) =>
    lock === null ? undefined : { result: await work(false) },
  )
  return first === undefined ? await locks.request(name, () => work(true)) : first.result
}
