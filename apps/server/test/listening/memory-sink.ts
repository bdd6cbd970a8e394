import type { Frame } from '../../src/platform/streams/frame.js'
import type { Sink } from '../../src/platform/streams/sink.js'
import type { Heard } from './raw-stream.js'

/** A connection that keeps what is sent; the test says how fast it reads and when it is gone. */
export class MemorySink implements Sink {
  readonly heard: Heard[] = []
  pings = 0
  pending = 0
  /** The way in which the server closed it. */
  ended: 'end' | 'cut' | undefined
  #closed = false
  readonly #callbacks: (() => void)[] = []

  get open(): boolean {
    return !this.#closed
  }

  /** The newest number from which it could continue. */
  get lastId(): number | undefined {
    return this.heard.findLast(({ sequence }) => sequence !== undefined)?.sequence
  }

  send(frame: Frame): void {
    if (this.#closed) return
    const id = /^id: (\d+)/.exec(frame.eventStream.toString())?.[1]
    this.heard.push({
      ...JSON.parse(frame.json),
      sequence: id === undefined ? undefined : Number(id),
    })
  }

  ping(): void {
    if (!this.#closed) this.pings += 1
  }

  async ready(): Promise<void> {
    this.pending = 0
  }

  end(): void {
    this.ended ??= 'end'
    this.close()
  }

  cut(): void {
    this.ended ??= 'cut'
    this.close()
  }

  onClose(callback: () => void): void {
    if (this.#closed) callback()
    else this.#callbacks.push(callback)
  }

  /** The other side goes away. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const callback of this.#callbacks) callback()
  }
}
