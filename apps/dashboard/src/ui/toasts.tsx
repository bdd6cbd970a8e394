import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { Button } from './button.js'
import { shownName } from './name.js'
import { messageOf } from './states.js'
import styles from './toasts.module.css'

interface Toast {
  id: number
  text: string
  isError: boolean
  undo: (() => void) | undefined
}

/** Milliseconds for which a note is shown; one about a failure stays until it is closed. */
const shownMilliseconds = 6000

let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function add(text: string, isError: boolean, undo?: () => void): void {
  last += 1
  const id = last
  change([...toasts.slice(-3), { id, text, isError, undo }])
  if (!isError) setTimeout(() => remove(id), shownMilliseconds)
}

function remove(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

/** Says that something was done; `undo` offers to take it back. */
export function note(text: string, undo?: () => void): void {
  add(text, false, undo)
}

/** Says that something failed. */
export function noteFailure(error: unknown): void {
  add(messageOf(error), true)
}

/** The place of notes: once, in the frame. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text, isError, undo }) => (
        <div key={id} className={`${styles.toast} ${isError ? styles.error : ''}`}>
          <span>{shownName(text)}</span>
          {undo !== undefined && (
            <Button
              onClick={() => {
                remove(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          <Button
            kind="quiet"
            icon={<X size={14} />}
            aria-label="Dismiss"
            onClick={() => remove(id)}
          />
        </div>
      ))}
    </div>
  )
}
