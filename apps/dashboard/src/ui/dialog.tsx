import { X } from 'lucide-react'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Button } from './button.js'
import styles from './dialog.module.css'
import { shownName } from './name.js'

interface DialogProps {
  title: string
  /** Called when the dialog is to close: by Escape, the cross or a press beside it. */
  onClose: () => void
  /** Beside the page, in full height, instead of in its middle. */
  isSheet?: boolean
  /** Whether it closes only by what is in it. */
  isRequired?: boolean
  children: ReactNode
}

/** A modal dialog: that of the browser, which keeps the focus and makes the rest inert. */
export function Dialog(props: DialogProps) {
  const { title, onClose, isSheet = false, isRequired = false, children } = props
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // Closed before it leaves the page: only then the browser returns the focus to where it was.
  useLayoutEffect(() => {
    const dialog = ref.current
    if (dialog?.open === false) {
      dialog.showModal()
      // The browser chooses the first control, which closes the dialog.
      dialog.querySelector<HTMLElement>('input, select, textarea')?.focus()
    }
    return () => dialog?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, by the browser
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      className={`${styles.dialog} ${isSheet ? styles.sheet : ''}`}
      onCancel={(event) => {
        event.preventDefault()
        if (!isRequired) onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current && !isRequired) onClose()
      }}
    >
      <div className={styles.content}>
        <header className={styles.header}>
          <h2 id={titleId}>{shownName(title)}</h2>
          {!isRequired && (
            <Button kind="quiet" icon={<X size={16} />} aria-label="Close" onClick={onClose} />
          )}
        </header>
        {children}
      </div>
    </dialog>
  )
}
