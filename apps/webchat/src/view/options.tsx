import type { Option } from '@botstead/chat-view'
import { useId, useState } from 'react'
import { format } from '../translations/index.js'
import { useTranslation } from './context.js'

/** Called when the user presses an option or a button, with its label and its value. */
export type Choose = (label: string, value: unknown) => void

interface OptionsProps {
  label: string
  options: readonly Option[]
  /** Label of the chosen option; undefined while the options can be pressed. */
  answer: string | undefined
  onChoose: Choose
}

/** Options as buttons; after one is pressed, all are disabled. */
export function Choice({ label, options, answer, onChoose }: OptionsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings styles that differ between browsers
    <div className="options" role="group" aria-label={label}>
      {options.map(({ label, value }, index) => (
        <button
          // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and may have one label
          key={index}
          type="button"
          className="option"
          disabled={answer !== undefined}
          aria-pressed={answer === label}
          onClick={() => onChoose(label, value)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Options as a `select` with a button: arrow keys change the selection, which must not send anything yet. */
export function Dropdown({ label, options, answer, onChoose }: OptionsProps) {
  const texts = useTranslation()
  const id = useId()
  const [index, setIndex] = useState(0)
  if (answer !== undefined)
    return <p className="chosen">{format(texts.chosen, { name: answer })}</p>
  const chosen = options[index]
  if (chosen === undefined) return null
  return (
    <div className="dropdown">
      <label className="visually-hidden" htmlFor={id}>
        {label}
      </label>
      <select id={id} value={index} onChange={({ target }) => setIndex(Number(target.value))}>
        {options.map((option, position) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and may have one label
          <option key={position} value={position}>
            {option.label}
          </option>
        ))}
      </select>
      <button type="button" className="option" onClick={() => onChoose(chosen.label, chosen.value)}>
        {texts.choose}
      </button>
    </div>
  )
}
