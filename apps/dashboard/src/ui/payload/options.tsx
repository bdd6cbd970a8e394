import { Button } from '../button.js'
import styles from './payload.module.css'
import { type Choose, objectsIn } from './read.js'

interface OptionProps {
  label: string
  value: string
  onChoose: Choose | undefined
}

/** One option: a button where it can be pressed, and otherwise something that looks like one. */
export function PressOption({ label, value, onChoose }: OptionProps) {
  if (onChoose === undefined) {
    return (
      <span className={styles.option} title={value === label ? undefined : `Sends: ${value}`}>
        {label}
      </span>
    )
  }
  return <Button onClick={() => onChoose(value, label)}>{label}</Button>
}

/** The options of a question. */
export function Options({ options, onChoose }: { options: unknown; onChoose: Choose | undefined }) {
  return (
    <ul className={styles.options} aria-label="Options">
      {objectsIn(options).map(({ label, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: options never move
        <li key={index}>
          <PressOption label={String(label)} value={String(value)} onChoose={onChoose} />
        </li>
      ))}
    </ul>
  )
}
