import type { ReactNode } from 'react'
import { CopyButton } from './copy.js'
import styles from './secret-once.module.css'

interface SecretOnceProps {
  what: string
  value: string
  /** Advice for secrets that are passed on, not kept. */
  children?: ReactNode
}

/** A secret at the only moment at which it is known. */
export function SecretOnce({ what, value, children }: SecretOnceProps) {
  return (
    <div role="status" className={styles.once}>
      <p>{children ?? `This is the new ${what}. It is shown only now: keep it in a safe place.`}</p>
      <code>{value}</code>
      <CopyButton text={value} what={what}>
        Copy
      </CopyButton>
    </div>
  )
}
