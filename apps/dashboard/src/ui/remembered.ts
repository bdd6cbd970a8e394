import { useState } from 'react'

const prefix = 'botstead '

/** A choice of the reader that this browser remembers; nothing that belongs into an address. */
export function useRemembered<T>(name: string, fallback: T): [T, (value: T) => void] {
  const [value, setValue] = useState(() => readRemembered(name, fallback))
  return [
    value,
    (next) => {
      remember(name, next)
      setValue(next)
    },
  ]
}

/** The value that is remembered under a name; the fallback if the browser stores nothing. */
export function readRemembered<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(prefix + name)
    return text === null ? fallback : JSON.parse(text)
  } catch {
    return fallback
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(prefix + name, JSON.stringify(value))
  } catch {
    // A browser that keeps nothing, as in a private window, forgets the choice.
  }
}
