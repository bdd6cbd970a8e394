import type { ReactNode } from 'react'

interface ScrollBoxProps {
  /** Name of its content for screen readers. */
  label: string
  className?: string | undefined
  children: ReactNode
}

/** A part of the page that scrolls by itself, also by keys. */
export function ScrollBox({ label, className, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, keys cannot scroll
    <section aria-label={label} className={className} tabIndex={0}>
      {children}
    </section>
  )
}
