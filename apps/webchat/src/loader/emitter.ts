export type Listener = (data: unknown) => void

/** Events that happen once: who listens later hears of them at once. */
const once = ['webchat:initialized', 'webchat:ready']

/** Calls listeners by the name of an event; one that throws keeps no other from hearing. */
export function createEmitter() {
  const listeners = new Map<string, Set<Listener>>()
  const happened = new Set<string>()
  const call = (listener: Listener, data: unknown) =>
    queueMicrotask(() => {
      listener(data)
    })
  return {
    emit(event: string, data?: unknown): void {
      if (once.includes(event)) happened.add(event)
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
