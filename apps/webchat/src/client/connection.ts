import { readEventStream } from '@botstead/contract/event-stream'
import { isPassing, Refusal } from './wire.js'

/** A frame of the stream. */
interface Frame {
  type: string
  data: unknown
}

export interface ConnectionOptions {
  /** Opens the stream. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  onFrame(frame: Frame): void
  /** Called when an attempt begins, and when a connection ended or could not be made. */
  onState(state: 'connecting' | 'waiting' | 'refused', error?: unknown): void
}

export interface Connection {
  /** Ends the connection, if there is one, and opens another at once. */
  reopen(): void
  /** Says that the connection works, so that the next break begins with short pauses. */
  confirm(): void
}

const shortestPause = 1000
const longestPause = 30_000
/** Milliseconds without a byte after which a connection is dead: the server says something every 30 s. */
const silence = 75_000

/**
 * Milliseconds after which a page that nobody sees gives up its connection: a browser has six to a server without
 * HTTP/2, for all of its pages together.
 */
const patience = 5 * 60_000

/**
 * Keeps a stream open for as long as the page lives: every end is followed by another attempt, after pauses that
 * grow to half a minute. A browser that comes back online, or a page that is looked at again, does not wait.
 */
export function keepConnected({ open, onFrame, onState }: ConnectionOptions): Connection {
  let pause = shortestPause
  let attempt = new AbortController()
  let endPause = () => {}
  let atOnce = false
  let lastData = 0
  let isAsleep = false
  let wake = () => {}
  let falling: ReturnType<typeof setTimeout> | undefined

  async function once(signal: AbortSignal): Promise<void> {
    const body = await open(signal)
    for await (const { data } of readEventStream(body, silence)) {
      if (signal.aborted) return
      lastData = Date.now()
      const frame = read(data)
      if (frame !== undefined) onFrame(frame)
    }
  }

  async function run(): Promise<never> {
    for (;;) {
      if (isAsleep) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      atOnce = false
      attempt = new AbortController()
      onState('connecting')
      let wish = 0
      try {
        await once(attempt.signal)
        if (!atOnce) onState('waiting')
      } catch (error) {
        // Nobody sees that it is gone, and it comes back before anybody does.
        if (isAsleep) continue
        if (!atOnce) onState(isPassing(error) ? 'waiting' : 'refused', error)
        if (error instanceof Refusal) wish = error.retryAfter
        // What was refused for good is tried again too, because somebody may mend it, but not often.
        if (!isPassing(error)) pause = longestPause
      }
      if (atOnce) continue
      // Shortened by chance: pages that lost the same server come back one after the other.
      await rest(Math.max(wish, (pause * (1 + Math.random())) / 2))
      pause = Math.min(pause * 2, longestPause)
    }
  }

  const rest = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const reopen = () => {
    atOnce = true
    pause = shortestPause
    attempt.abort()
    endPause()
  }
  addEventListener('online', reopen)
  // The browser knows at once what the stream would notice only after a minute.
  addEventListener('offline', () => attempt.abort())
  document.addEventListener('visibilitychange', () => {
    clearTimeout(falling)
    if (document.visibilityState === 'hidden') {
      falling = setTimeout(() => {
        isAsleep = true
        attempt.abort()
        endPause()
      }, patience)
    } else if (isAsleep) {
      isAsleep = false
      wake()
    } else if (Date.now() - lastData > silence / 2) reopen()
  })
  void run()
  return {
    reopen,
    confirm: () => {
      pause = shortestPause
    },
  }
}

function read(text: string): Frame | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const { type, data } = JSON.parse(text)
    return typeof type === 'string' ? { type, data } : undefined
  } catch {
    return undefined
  }
}
