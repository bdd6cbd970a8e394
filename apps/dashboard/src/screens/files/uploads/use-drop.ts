import { useEffect, useRef, useState } from 'react'
import { noteFailure } from '../../../ui/toasts.js'
import { type Chosen, chosenOf } from './chosen.js'

/** Takes files that are dropped anywhere on the page; returns whether some are above it now. */
export function useDrop(onChosen: (chosen: Chosen[]) => void): boolean {
  const [isAbove, setAbove] = useState(false)
  const receive = useRef(onChosen)
  receive.current = onChosen
  useEffect(() => {
    const control = new AbortController()
    const { signal } = control
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setAbove(true)
    }
    document.addEventListener('dragover', over, { signal })
    document.addEventListener(
      'dragleave',
      (event) => {
        // The pointer left the window, not only an element of the page.
        if (event.relatedTarget === null) setAbove(false)
      },
      { signal },
    )
    document.addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event) || event.dataTransfer === null) return
        event.preventDefault()
        setAbove(false)
        chosenOf(event.dataTransfer).then((chosen) => {
          if (chosen.length > 0) receive.current(chosen)
        }, noteFailure)
      },
      { signal },
    )
    return () => control.abort()
  }, [])
  return isAbove
}
