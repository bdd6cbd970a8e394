import { isComposing } from '@botstead/contract/composing'
import { useLayoutEffect, useRef } from 'react'

/** The action of a key. */
interface Shortcut {
  /** For the list of keys. */
  label: string
  run: () => void
}

export type Shortcuts = Readonly<Record<string, Shortcut>>

const layers: { current: Shortcuts }[] = []
/** Milliseconds within which the second key of a pair must follow, as in `g h`. */
const pairMilliseconds = 1500
let pending: { key: string; at: number } | undefined

/** All keys that do something now; those of the newest part of the page win. */
export function activeShortcuts(): Shortcuts {
  return Object.assign({}, ...layers.map(({ current }) => current))
}

/** Adds keys while the component is shown: `j`, or a pair as `g h`. They rest while somebody types. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const layer = useRef(shortcuts)
  layer.current = shortcuts
  // Not after it is shown, as `useEffect` would: keys pressed until then would do nothing.
  useLayoutEffect(() => {
    layers.push(layer)
    return () => {
      layers.splice(layers.indexOf(layer), 1)
    }
  }, [])
}

/** Listens to the keys of the page; called once. */
export function listenToShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isComposing(event)) return
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
    const all = activeShortcuts()
    const isPair = pending !== undefined && Date.now() - pending.at < pairMilliseconds
    const name = isPair && pending ? `${pending.key} ${event.key}` : event.key
    pending = undefined
    const shortcut = all[name]
    if (shortcut !== undefined) {
      event.preventDefault()
      shortcut.run()
    } else if (Object.keys(all).some((key) => key.startsWith(`${event.key} `))) {
      pending = { key: event.key, at: Date.now() }
    }
  })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="menu"] *'))
  )
}
