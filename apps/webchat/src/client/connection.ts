import { readEventStream } from '@botstead/contract/event-stream'
import { HttpError, isRetryable } from './api.js'
import { createBackoff } from './backoff.js'

/** One event of the stream. */
interface Signal {
  type: string
  data: unknown
}

export interface ConnectionOptions {
  /** Opens the stream; throws {@link HttpError} if the server refuses it. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  onSignal(signal: Signal): void
  /** Called when an attempt begins, and when a connection ended or could not be made. */
  onState(state: 'connecting' | 'waiting' | 'refused', error?: unknown): void
}

export interface Connection {
  /** Ends the connection, if there is one, and opens another immediately. */
  reopen(): void
  /** Resets the pause between attempts, because the connection works. */
  confirm(): void
}

/** Milliseconds without a byte after which a connection is dead: the server sends something every 30 s. */
const silenceTimeoutMs = 75_000

/**
 * Milliseconds after which a hidden page closes its connection: a browser opens at most six to a server without
 * HTTP/2, for all of its pages together.
 */
const hiddenTimeoutMs = 5 * 60_000

/**
 * Keeps a stream open for as long as the page exists: after every end follows another attempt, with pauses that
 * grow to half a minute. When the browser is online again, or the page becomes visible, the attempt is immediate.
 */
export function keepConnected({ open, onSignal, onState }: ConnectionOptions): Connection {
  const backoff = createBackoff()
  let attempt = new AbortController()
  let endPause = () => {}
  let isReopening = false
  let lastData = 0
  let isSuspended = false
  let resume = () => {}
  let suspendTimer: ReturnType<typeof setTimeout> | undefined

  async function readStream(signal: AbortSignal): Promise<void> {
    const body = await open(signal)
    for await (const { data } of readEventStream(body, silenceTimeoutMs)) {
      if (signal.aborted) return
      lastData = Date.now()
      const parsed = parseSignal(data)
      if (parsed !== undefined) onSignal(parsed)
    }
  }

  async function run(): Promise<never> {
    for (;;) {
      if (isSuspended) {
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      }
      isReopening = false
      attempt = new AbortController()
      onState('connecting')
      let retryAfter = 0
      try {
        await readStream(attempt.signal)
        if (!isReopening) onState('waiting')
      } catch (error) {
        // The page is hidden, and reconnects when it becomes visible.
        if (isSuspended) continue
        if (!isReopening) onState(isRetryable(error) ? 'waiting' : 'refused', error)
        if (error instanceof HttpError) retryAfter = error.retryAfter
        // Also tried again, but rarely: the cause of the refusal may be removed on the server.
        if (!isRetryable(error)) backoff.slowDown()
      }
      if (isReopening) continue
      await wait(backoff.next(retryAfter))
    }
  }

  const wait = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const reopen = () => {
    isReopening = true
    backoff.reset()
    attempt.abort()
    endPause()
  }
  addEventListener('online', reopen)
  // The browser notices a lost network immediately; the stream would only after its timeout.
  addEventListener('offline', () => attempt.abort())
  document.addEventListener('visibilitychange', () => {
    clearTimeout(suspendTimer)
    if (document.visibilityState === 'hidden') {
      suspendTimer = setTimeout(() => {
        isSuspended = true
        attempt.abort()
        endPause()
      }, hiddenTimeoutMs)
    } else if (isSuspended) {
      isSuspended = false
      resume()
    } else if (Date.now() - lastData > silenceTimeoutMs / 2) reopen()
  })
  void run()
  return {
    reopen,
    confirm: backoff.reset,
  }
}

/** Parses the data of an event; undefined for what is no signal, such as `ping`. */
function parseSignal(text: string): Signal | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const { type, data } = JSON.parse(text)
    return typeof type === 'string' ? { type, data } : undefined
  } catch {
    return undefined
  }
}
