import { randomUUID } from 'node:crypto'
import type { Log } from '../telemetry/log.js'
import type { EventBus, Hint, HintListener, Subscription } from './event-bus.js'
import { LocalBus } from './local.js'
import { packNotifications, unpackNotification } from './notification.js'
import { NotificationLink } from './notification-link.js'
import { PendingHints } from './pending-hints.js'

const channel = 'botstead_hints'
/** Logs remembered while the connection is down; what comes on top is found at the next look. */
const maxPending = 10_000

/**
 * A bus between all processes of one PostgreSQL database, by LISTEN and NOTIFY. Listeners of the
 * publishing process are told directly. Rejects when the database cannot be reached.
 * @param url address of the database; poolers that share connections cannot pass notifications
 */
export async function openPostgresBus(url: string, log: Log): Promise<EventBus> {
  const bus = new PostgresBus(log)
  await bus.connect(url)
  return bus
}

class PostgresBus implements EventBus {
  readonly #log: Log
  readonly #local: LocalBus
  readonly #pending = new PendingHints(maxPending)
  /** Name of this process among those that share the channel. */
  readonly #name = randomUUID()
  #link: NotificationLink | undefined
  #sending: Promise<void> | undefined
  #closed = false

  constructor(log: Log) {
    this.#log = log
    this.#local = new LocalBus(log)
  }

  async connect(url: string): Promise<void> {
    this.#link = await NotificationLink.open({
      url,
      channel,
      log: this.#log,
      onNotification: (payload) => this.#receive(payload),
      onReconnect: () => {
        this.#local.tellGap()
        this.#send()
      },
    })
  }

  publish(hint: Hint): void {
    if (this.#closed) return
    this.#local.publish(hint)
    this.#pending.add(hint)
    this.#send()
  }

  subscribe(subscription: Subscription, listener: HintListener): () => void {
    return this.#local.subscribe(subscription, listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await this.#sending
    await this.#link?.[Symbol.asyncDispose]()
    await this.#local[Symbol.asyncDispose]()
  }

  #send(): void {
    this.#sending ??= this.#sendAll()
  }

  /** One statement at a time: whatever is published while it runs goes into the next. */
  async #sendAll(): Promise<void> {
    await endOfTurn()
    while (this.#link?.connected && this.#pending.size > 0) {
      const hints = this.#pending.take()
      try {
        await this.#link.notify(packNotifications(this.#name, hints))
      } catch {
        // The link is down and has logged why; these go out when it is back.
        for (const hint of hints) this.#pending.add(hint)
      }
    }
    // In the same step as the last look, so that no hint comes between.
    this.#sending = undefined
  }

  #receive(payload: string): void {
    const notification = unpackNotification(payload)
    if (!notification) {
      this.#log.warn({ channel }, 'a notification of another program was ignored')
    } else if (notification.from !== this.#name) {
      for (const hint of notification.hints) this.#local.publish(hint)
    }
  }
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
