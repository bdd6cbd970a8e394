import pg from 'pg'
import type { Log } from '../telemetry/log.js'

export interface NotificationLinkOptions {
  /** Address of the database; it must not lead through a pooler that shares connections. */
  url: string
  channel: string
  log: Log
  onNotification(payload: string): void
  /** The link is back after a loss, so notifications may have passed by. */
  onReconnect(): void
  /** Milliseconds between trials of a quiet connection: a dead one may look alive for hours. */
  heartbeat?: number
  /** Milliseconds that a statement may take before the connection counts as dead. */
  queryTimeout?: number
}

const connectTimeout = 10_000
const defaultQueryTimeout = 10_000
const defaultHeartbeat = 30_000
const firstDelay = 100
const maxDelay = 10_000

/** One connection that listens to a channel and comes back by itself whenever it is lost. */
export class NotificationLink implements AsyncDisposable {
  readonly #options: NotificationLinkOptions
  #client: pg.Client | undefined
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  /** Ends with the statement that is running. */
  #turn = Promise.resolve()
  #closed = false

  private constructor(options: NotificationLinkOptions) {
    this.#options = options
  }

  /** Rejects when the first attempt fails: a wrong address should stop the start. */
  static async open(options: NotificationLinkOptions): Promise<NotificationLink> {
    const link = new NotificationLink(options)
    await link.#connect()
    const interval = options.heartbeat ?? defaultHeartbeat
    link.#heartbeat = setInterval(() => link.#beat(), interval).unref()
    return link
  }

  get connected(): boolean {
    return this.#client !== undefined
  }

  /**
   * Sends notifications in one statement. What the server refuses is given up, with a line in the log.
   * Rejects when the link is down, or the server ends it meanwhile, so that they may not have been sent.
   */
  async notify(payloads: readonly string[]): Promise<void> {
    const client = this.#client
    if (!client) throw new Error('The connection for notifications is down.')
    try {
      await this.#query(
        client,
        'select pg_notify($1, payload) from unnest($2::text[]) payload',
        this.#options.channel,
        payloads,
      )
    } catch (err) {
      if (err instanceof pg.DatabaseError && err.severity !== 'FATAL') {
        this.#options.log.warn({ err }, 'the database refused notifications')
        return
      }
      this.#lose(client, err)
      throw err
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    clearInterval(this.#heartbeat)
    const client = this.#client
    this.#client = undefined
    await this.#turn
    await client?.end()
  }

  async #connect(): Promise<void> {
    const { url, channel, queryTimeout = defaultQueryTimeout } = this.#options
    const client = new pg.Client({
      connectionString: url,
      application_name: 'botstead bus',
      connectionTimeoutMillis: connectTimeout,
      query_timeout: queryTimeout,
      keepAlive: true,
    })
    client.on('error', (error) => this.#lose(client, error))
    client.on('end', () => this.#lose(client, new Error('The server ended the connection.')))
    client.on('notification', ({ payload }) => this.#options.onNotification(payload ?? ''))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      client.end().catch(ignore)
      throw error
    }
    if (this.#closed) return client.end()
    this.#client = client
    this.#failures = 0
  }

  #lose(client: pg.Client, err: unknown): void {
    if (client !== this.#client) return
    this.#client = undefined
    this.#options.log.warn({ err }, 'the connection for notifications was lost')
    client.end().catch(ignore)
    this.#reconnectLater()
  }

  #reconnectLater(): void {
    const delay = Math.min(maxDelay, firstDelay * 2 ** this.#failures)
    this.#failures += 1
    // Spread out, so that a restarted server is not met by all processes at once.
    const spread = delay * (0.5 + Math.random() / 2)
    this.#retry = setTimeout(() => void this.#reconnect(), spread).unref()
  }

  async #reconnect(): Promise<void> {
    try {
      await this.#connect()
    } catch (err) {
      if (this.#closed) return
      // The loss was logged once as a warning, which is enough for operators.
      this.#options.log.debug({ err }, 'the connection for notifications is still down')
      return this.#reconnectLater()
    }
    if (this.#closed) return
    this.#options.log.info('the connection for notifications is back')
    this.#options.onReconnect()
  }

  #beat(): void {
    const client = this.#client
    if (client) this.#query(client, 'select 1').catch((error) => this.#lose(client, error))
  }

  /** One statement at a time, as the driver requires. */
  #query(client: pg.Client, statement: string, ...values: unknown[]): Promise<unknown> {
    const result = this.#turn.then(() => client.query(statement, values))
    this.#turn = result.then(ignore, ignore)
    return result
  }
}

function ignore(): void {}
