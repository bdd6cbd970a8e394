import { CopyButton } from './copy.js'
import styles from './secret-once.module.css'

/** A secret at the only moment at which it is known. */
export function SecretOnce({ what, value }: { what: string; value: string }) {
  return (
    <div role="status" className={styles.once}>
      <p>This is the new {what}. It is shown only now: keep it in a safe place.</p>
      <code>{value}</code>
      <CopyButton text={value} what={what}>
        Copy
      </CopyButton>
    </div>
  )
}
