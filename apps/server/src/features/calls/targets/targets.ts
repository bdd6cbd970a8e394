import type { Awaitable } from '../../../domain/authenticator.js'
import { type Receiver, receiverKey, receiverOf } from '../../../domain/receiver.js'
import type { Clock } from '../../../platform/clock.js'
import { createFactCache } from '../../../platform/fact-cache.js'

/** Where a receiver listens, and what every call to it carries. */
export interface Target {
  url: string
  /** Headers that say who is called and how it is configured. */
  headers: Readonly<Record<string, string>>
  /** Secrets that sign the calls, the newest first; the older one while they are rotated. */
  secrets: readonly string[]
  /** Milliseconds that it may take for an answer. */
  timeoutMs: number
  /**
   * Whether it is the webhook of an app, which gets what it is told and nothing about operations. It
   * knows no pings either: while it is paused, what waits first is tried instead.
   */
  plain?: boolean
}

/** Targets from memory, when they were asked for within the last seconds. */
export interface Targets {
  /** Undefined if the receiver is gone, or has no address. */
  of(receiver: Receiver): Awaitable<Target | undefined>
  /** To be told when a bot or what is installed in it was changed or removed. */
  forget(botId: string): void
}

export interface TargetsDeps {
  clock: Clock
  /** Reads the target of a receiver; undefined if it is gone, or has no address. */
  findTarget: (receiver: Receiver) => Promise<Target | undefined>
}

export function createTargets({ clock, findTarget }: TargetsDeps): Targets {
  // That there is none is a fact too: it has to be forgotten as soon as there is one.
  const known = createFactCache<{ target: Target | undefined }>({
    clock,
    read: async (key) => ({ target: await findTarget(receiverOf(key)) }),
  })
  return {
    of(receiver) {
      const found = known.get(receiverKey(receiver))
      return found instanceof Promise ? found.then((fact) => fact?.target) : found?.target
    },
    forget: (botId) => known.forget((key) => key.startsWith(`${botId}/`)),
  }
}
