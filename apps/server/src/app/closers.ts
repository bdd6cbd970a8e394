import type { Log } from '../platform/telemetry/log.js'

/** A part to stop in order; the part that was started last stops first. */
interface Closer {
  name: string
  close: Close
}

/** Stops a part; `timeLeft` milliseconds are left for it and for all that stop after it. */
type Close = (timeLeft: number) => Promise<void>

export type Closers = ReturnType<typeof createClosers>

/** Stops the started parts in reverse order, each within the time that is left. */
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
    /** Registers how to stop a part that was just started. */
    add(name: string, close: Close): void {
      closers.push({ name, close })
    },
    /** Stops everything; a second call waits for the first. */
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
