export type Listener = (data: unknown) => void

/** Events that happen once; a listener that is added later is called at once. */
const replayedEvents = ['webchat:initialized', 'webchat:ready']

/** Calls listeners by the name of an event, each in its own microtask: an error in one does not affect the others. */
export function createEmitter() {
  const listeners = new Map<string, Set<Listener>>()
  const happened = new Set<string>()
  const call = (listener: Listener, data: unknown) =>
    queueMicrotask(() => {
      listener(data)
    })
  return {
    emit(event: string, data?: unknown): void {
      if (replayedEvents.includes(event)) happened.add(event)
      for (const listener of listeners.get(event) ?? []) call(listener, data)
    },
    /** Returns a function that ends listening. */
    on(event: string, listener: Listener): () => void {
      const known = listeners.get(event) ?? new Set()
      listeners.set(event, known.add(listener))
      if (happened.has(event)) call(listener, undefined)
      return () => known.delete(listener)
    },
  }
}
