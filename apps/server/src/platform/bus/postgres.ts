import { randomUUID } from 'node:crypto'
import type { Log } from '../telemetry/log.js'
import type { EventBus, Hint, HintListener, Subscription } from './event-bus.js'
import { LocalBus, PendingHints } from './local.js'
import { NotificationLink } from './notification-link.js'

const channel = 'botstead_hints'
/** Logs remembered while the connection is down; when there are more, the other processes read everything again. */
const maxPending = 10_000

/**
 * A bus between all processes of one PostgreSQL database, by LISTEN and NOTIFY. Listeners of the
 * publishing process are notified directly. Rejects when the database cannot be reached.
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
        this.#local.reportGap()
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
      const isGap = this.#pending.takeDropped()
      try {
        await this.#link.notify([
          ...packNotifications(this.#name, hints),
          ...(isGap ? [packGap(this.#name)] : []),
        ])
      } catch {
        // The link is down and has logged why; these go out when it is back.
        for (const hint of hints) this.#pending.add(hint)
        if (isGap) this.#pending.drop()
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
      if (notification.isGap) this.#local.reportGap()
    }
  }
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** PostgreSQL refuses notifications of 8000 bytes and more. */
const maxBytes = 7_900

type WireHint = [topic: string, key: string, seq?: number]

/** The sender and the hints of a notification. */
export interface Notification {
  from: string
  hints: Hint[]
  /** Whether the process could not send all of its hints: others read everything again. */
  isGap: boolean
}

/**
 * Packs hints into as few notifications as possible. Those that are too long for one are left out,
 * as any hint may be.
 * @param from name of the sending process, by which it knows its own notifications
 */
export function packNotifications(from: string, hints: readonly Hint[]): string[] {
  const head = `{"from":${JSON.stringify(from)},"hints":[`
  const capacity = maxBytes - Buffer.byteLength(head) - ']}'.length
  const packed: string[] = []
  let parts: string[] = []
  let used = 0
  const seal = () => {
    if (parts.length > 0) packed.push(`${head}${parts.join(',')}]}`)
    parts = []
    used = 0
  }
  for (const hint of hints) {
    const part = JSON.stringify(toWire(hint))
    const bytes = Buffer.byteLength(part) + 1
    if (bytes > capacity) continue
    if (used + bytes > capacity) seal()
    parts.push(part)
    used += bytes
  }
  seal()
  return packed
}

/** A notification that hints of a process were lost. */
export function packGap(from: string): string {
  return JSON.stringify({ from, hints: [], gap: true })
}

/** Undefined for anything that was not packed by this program. */
export function unpackNotification(text: string): Notification | undefined {
  const { from, hints, gap } = parseObject(text)
  if (typeof from !== 'string' || !Array.isArray(hints)) return undefined
  if (!hints.every(isWireHint)) return undefined
  return { from, hints: hints.map(fromWire), isGap: gap === true }
}

function toWire({ topic, key, seq }: Hint): WireHint {
  return seq === undefined ? [topic, key] : [topic, key, seq]
}

function fromWire([topic, key, seq]: WireHint): Hint {
  return seq === undefined ? { topic, key } : { topic, key, seq }
}

function isWireHint(value: unknown): value is WireHint {
  if (!Array.isArray(value)) return false
  const [topic, key, seq] = value
  const known = seq === undefined || Number.isSafeInteger(seq)
  return typeof topic === 'string' && typeof key === 'string' && known
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
