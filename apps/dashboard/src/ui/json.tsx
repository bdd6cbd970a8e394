import { CopyButton } from './copy.js'
import styles from './json.module.css'

/** Characters up to which a value is shown whole. */
const maxShown = 100_000

interface JsonProps {
  value: unknown
  label: string
  /** The copied text, if it is not the indented text. */
  copied?: string
}

/** A value as indented JSON, to be read and copied; a text as it is. */
export function Json({ value, label, copied }: JsonProps) {
  const text =
    typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? 'undefined')
  const isCut = text.length > maxShown
  return (
    <figure className={styles.json}>
      <figcaption>
        {label}
        <CopyButton text={copied ?? text} what={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre tabIndex={0}>
        {isCut ? `${text.slice(0, maxShown)}\n… (cut: copy it for the rest)` : text}
      </pre>
    </figure>
  )
}
