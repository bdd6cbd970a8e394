import { createClient, initialize, type Message } from '@botpress/webchat-client'
import { expect, onTestFinished, vi } from 'vitest'
import type { ReachableServer } from './existing-clients.js'

/** A signal as the client emits it. */
export interface HeardSignal {
  type: string
  payload: unknown
}

/** The part of the response of `init` that tests read. */
export interface Init {
  conversation: { id: string }
  messages: Message[]
  participants: { id: string; name?: string }[]
  user: { id: string; userKey: string }
}

/** The address of a web chat, and its webhook id. */
export interface WebchatAddress {
  apiUrl: string
  clientId: string
}

/** The two addresses of a web chat. */
export function webchatAddress(
  { url }: Pick<ReachableServer, 'url'>,
  clientId: string,
  path: 'chat' | 'webchat' = 'webchat',
): WebchatAddress {
  return { apiUrl: `${url}/${path}`, clientId }
}

interface Listener {
  on(type: string, callback: (payload: never) => void): unknown
  disconnect(): void
}

/** Collects what a listener of the client emits, until the test is finished. */
export function hear(listener: unknown) {
  const { on, disconnect } = listener as Listener
  const heard: HeardSignal[] = []
  on('*', (signal: HeardSignal) => void heard.push(signal))
  onTestFinished(() => disconnect())
  const named = (type: string) =>
    heard.filter((signal) => signal.type === type).map(({ payload }) => payload)
  return {
    heard,
    named,
    /** The signals beside those that every stream has. */
    signals: () => heard.filter(({ type }) => !['open', 'init', 'undefined'].includes(type)),
    /** Waits until signals of a type were heard; returns the last of them. */
    async until<Payload = Record<string, unknown>>(type: string, count = 1): Promise<Payload> {
      await vi.waitFor(() => expect(named(type).length).toBeGreaterThanOrEqual(count))
      return named(type).at(-1) as Payload
    },
    close: disconnect,
  }
}

/** Opens a web chat with the unmodified client; returns it once it has the state of the conversation. */
export async function openWebchat(
  address: WebchatAddress,
  options: { userToken?: string; conversationId?: string; adminSecret?: string } = {},
) {
  const ear = hear(initialize({ ...address, ...options }))
  const init = await ear.until<Init>('init')
  return { ...ear, init, client: createClient({ ...address, userKey: init.user.userKey }) }
}
