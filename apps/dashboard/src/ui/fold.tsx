import { type ReactNode, useState } from 'react'
import styles from './fold.module.css'

/** A part that is folded at first, and made (so that it loads) when it is opened. */
export function Fold({ title, children }: { title: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={styles.fold} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  )
}
