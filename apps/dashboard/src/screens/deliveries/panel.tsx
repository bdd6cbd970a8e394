import { type ReactNode, useState } from 'react'
import styles from './deliveries.module.css'

interface PanelProps {
  /** Its content in a few words. */
  title: string
  /** Its name, which does not change with what is in it. */
  label: string
  children: ReactNode
}

/** A panel above the list that can be folded; on a narrow screen it is at first, or nothing of the list would be seen. */
export function Panel({ title, label, children }: PanelProps) {
  const [isOpen] = useState(() => matchMedia('(width >= 640px)').matches)
  return (
    <section className={styles.panel} aria-label={label}>
      <details open={isOpen}>
        <summary>{title}</summary>
        {children}
      </details>
    </section>
  )
}
