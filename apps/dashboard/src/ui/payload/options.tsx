import { type Option, toText } from '@botstead/chat-view'
import { Button } from '../button.js'
import styles from './payload.module.css'

/** Called when a person presses an option or a button, with its label and its value. */
export type Choose = (label: string, value: unknown) => void

/** One option: a button where it can be pressed, and otherwise something that looks like one. */
export function PressOption({ label, value, onChoose }: Option & { onChoose: Choose | undefined }) {
  if (onChoose === undefined) {
    const isSame = value === undefined || value === label
    return (
      <span className={styles.option} title={isSame ? undefined : `Sends: ${toText(value)}`}>
        {label}
      </span>
    )
  }
  return <Button onClick={() => onChoose(label, value)}>{label}</Button>
}

interface OptionsProps {
  options: readonly Option[]
  onChoose: Choose | undefined
}

/** The options of a question. */
export function Options({ options, onChoose }: OptionsProps) {
  return (
    <ul className={styles.options} aria-label="Options">
      {options.map((option, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: options never move
        <li key={index}>
          <PressOption {...option} onChoose={onChoose} />
        </li>
      ))}
    </ul>
  )
}
