import { OutgoingError, type OutgoingRequest } from '../../platform/outgoing/outgoing.js'
import { createGate, type Gate } from '../../platform/workers/gate.js'

/** Maximum number of requests of one owner that wait for their turn. */
const maxWaiting = 100

/** Turns of the requests that are sent alone: one at a time for each owner. */
export interface Turns {
  /**
   * Waits for a turn, at most as long as the request may take.
   * @returns a function that ends the turn, to be called once
   */
  take(owner: string, request: Pick<OutgoingRequest, 'signal' | 'timeoutMs'>): Promise<() => void>
}

export function createTurns(): Turns {
  const gates = new Map<string, Gate>()
  const late = () =>
    new OutgoingError(
      'connection',
      'This request may have ended the code before, so it waits until other such requests are done.',
    )
  return {
    async take(owner, request) {
      const gate = gates.get(owner) ?? createGate(1, maxWaiting, late)
      gates.set(owner, gate)
      const leave = await enterInTime(gate, request, late)
      return () => {
        leave()
        if (gate.load().running === 0) gates.delete(owner)
      }
    },
  }
}

/**
 * Waits for a place, at most as long as the request may take.
 * @param late makes the error for one that has waited that long
 */
export async function enterInTime(
  gate: Gate,
  { signal, timeoutMs }: Pick<OutgoingRequest, 'signal' | 'timeoutMs'>,
  late: () => Error,
): Promise<() => void> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(late()), timeoutMs)
  try {
    return await gate.enter(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal)
  } finally {
    clearTimeout(timer)
  }
}
