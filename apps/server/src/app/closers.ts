import type { Log } from '../platform/telemetry/log.js'

/** Something that has to be ended in order; what was started last ends first. */
interface Closer {
  name: string
  close: Close
}

/** Ends a part; `timeLeft` milliseconds are left for it and for all that end after it. */
type Close = (timeLeft: number) => Promise<void>

export type Closers = ReturnType<typeof createClosers>

/** Ends what was started, in reverse order, each part within what is left of the time. */
export function createClosers(log: Log) {
  const closers: Closer[] = []
  let closing: Promise<void> | undefined

  async function closeAll(deadline: number): Promise<void> {
    for (const { name, close } of closers.toReversed()) {
      try {
        const timeLeft = Math.max(0, deadline - Date.now())
        await within(timeLeft, close(timeLeft))
      } catch (err) {
        log.warn({ err, part: name }, 'a part did not end cleanly')
      }
    }
  }

  return {
    /** Registers how to end what has just been started. */
    add(name: string, close: Close): void {
      closers.push({ name, close })
    },
    /** Ends everything; a second call waits for the first. */
    closeAll(timeoutMilliseconds: number): Promise<void> {
      closing ??= closeAll(Date.now() + timeoutMilliseconds)
      return closing
    },
  }
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The time to stop is over')), milliseconds)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
