import { lazy, Suspense } from 'react'
import form from './form.module.css'
import type { JsonFieldProps } from './json-editor.js'
import styles from './json-field.module.css'

const Editor = lazy(async () => ({ default: (await import('./json-editor.js')).JsonEditor }))

/** A JSON value with its label, in an editor that colours it and matches brackets. */
export function JsonField(props: JsonFieldProps) {
  const { label, hint, error, value, rows = 8 } = props
  const description = [error, hint].filter((text) => text !== undefined).join(' ')
  return (
    <div className={form.field}>
      <span aria-hidden="true" className={styles.label}>
        {label}
      </span>
      <div className={error === undefined ? styles.frame : `${styles.frame} ${styles.invalid}`}>
        <Suspense fallback={<pre style={{ minHeight: rows * 20 }}>{value}</pre>}>
          <Editor {...props} description={description} isInvalid={error !== undefined} />
        </Suspense>
      </div>
      {description !== '' && (
        <div className={form.hint}>
          {error !== undefined && (
            <div role="alert" className={form.fault}>
              {error}
            </div>
          )}
          {hint}
        </div>
      )}
    </div>
  )
}
