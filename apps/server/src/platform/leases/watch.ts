import type { Timers } from '../clock.js'
import type { OutageLog } from '../telemetry/log.js'

export interface WatchOptions {
  timers: Timers
  /** Name of the watch in the log. */
  name: string
  outages: OutageLog
  /**
   * Claims what is ready and begins with it.
   * @returns milliseconds until there may be more; undefined when the watch will be woken
   */
  look: () => Promise<number | undefined>
  /** Milliseconds before another look after one that failed. */
  pauseAfterFault: () => number
  /** Called at the time of the next look; it wakes the watch. */
  onAlarm: () => void
}

/** Looks for work when it is woken or an alarm goes off, one look at a time. */
export interface Watch {
  /** There may be work: looks as soon as possible. */
  wake(): void
  /** Whether it was woken since the current look began, so that another one follows. */
  isAwake(): boolean
  /** Ends looking; resolves when the current look has ended. */
  close(): Promise<void>
}

/** Makes a watch, which first looks when it is woken. It logs a look that fails as an outage, and repeats it. */
export function createWatch(options: WatchOptions): Watch {
  const { timers, name, outages, look, pauseAfterFault, onAlarm } = options
  let awake = false
  let closed = false
  let looking: Promise<void> | undefined
  let cancelAlarm = () => {}

  /** Looks until it was not woken during a look; then sets the alarm. */
  async function lookAround(): Promise<void> {
    cancelAlarm()
    let pause: number | undefined
    try {
      while (awake && !closed) {
        awake = false
        pause = await look()
      }
      outages.worked(name)
    } catch (err) {
      outages.failed(name, err)
      pause = pauseAfterFault()
    }
    looking = undefined
    if (!closed && pause !== undefined) cancelAlarm = timers.after(pause, onAlarm)
  }

  return {
    wake() {
      awake = true
      if (!closed) looking ??= lookAround()
    },
    isAwake: () => awake,
    async close() {
      closed = true
      cancelAlarm()
      await looking
    },
  }
}
