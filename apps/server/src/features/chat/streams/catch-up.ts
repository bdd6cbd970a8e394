import type { Feed } from './feed.js'
import type { Listener } from './listener.js'

/** Bytes that may wait for the network while a listener reads what it has missed. */
const comfortable = 65_536
/** Milliseconds without progress after which a listener that reads what it missed is let go. */
const patience = 30_000

/**
 * Sends a listener what it has missed, then lets it follow. It becomes live in the same step in which
 * it is found to have all that the feed has, so nothing falls between and nothing comes twice.
 */
export async function catchUp(feed: Feed, listener: Listener, after: number): Promise<void> {
  listener.position = after
  // Whoever names a number that is newer than its part was found good at may pass over the end of it.
  if (after > listener.guest.authorizedAt) feed.recheck(listener)
  while (!listener.closed) {
    const entries = feed.recentAfter(listener.position) ?? (await feed.page(listener.position))
    const [first] = entries
    if (first === undefined) {
      // A number that was never given out, or whose successors are gone.
      if (listener.position !== feed.position && !(await isAhead(feed, listener))) {
        feed.reset(listener)
        return
      }
    } else if (first.sequence !== listener.position + 1) {
      feed.reset(listener)
      return
    }
    for (const entry of entries) {
      if (listener.sink.pending > comfortable) await untilTaken(listener)
      if (listener.closed) return
      listener.offer(entry)
    }
    if (listener.position >= feed.position) {
      listener.live = true
      return
    }
  }
}

/** The feed of this process may be a step behind what another process has told the listener. */
async function isAhead(feed: Feed, listener: Listener): Promise<boolean> {
  if (listener.position === 0 || listener.position <= feed.position) return false
  const [newest] = await feed.page(listener.position - 1)
  return newest?.sequence === listener.position
}

async function untilTaken(listener: Listener): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), patience)
  })
  const isLate = await Promise.race([listener.sink.ready(), late])
  clearTimeout(timer)
  if (isLate === true) listener.cut()
}
