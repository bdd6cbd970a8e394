import type { ComponentProps, ReactNode } from 'react'
import styles from './button.module.css'

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary` for the one thing that a form is for, `danger` for what cannot be undone. */
  kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  icon?: ReactNode
  /** Whether its work is being done: it cannot be pressed again, and says so. */
  isBusy?: boolean
}

/** A button; one with an icon alone needs an `aria-label`. */
export function Button({ kind = 'plain', icon, isBusy = false, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={isBusy}
      disabled={rest.disabled === true || isBusy}
      className={`${styles.button} ${styles[kind]} ${rest.className ?? ''}`}
    >
      {icon}
      {children}
    </button>
  )
}
