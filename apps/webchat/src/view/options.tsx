import { useId, useState } from 'react'
import { format } from '../translations/index.js'
import { useTranslation } from './context.js'
import { type Choose, isFilled, type Members } from './payload-values.js'

interface OptionsProps {
  label: string
  options: readonly Members[]
  /** Label of the chosen option; undefined while the options can be pressed. */
  answer: string | undefined
  onChoose: Choose
}

/** Options as buttons; after one is pressed, all are disabled. */
export function Choice({ label, options, answer, onChoose }: OptionsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings styles that differ between browsers
    <div className="options" role="group" aria-label={label}>
      {options.map(({ label, value }, index) =>
        isFilled(label) ? (
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
        ) : null,
      )}
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
  const labelled = options.filter((option) => isFilled(option.label))
  const { label: chosen, value } = labelled[index] ?? {}
  if (labelled.length === 0) return null
  return (
    <div className="dropdown">
      <label className="visually-hidden" htmlFor={id}>
        {label}
      </label>
      <select id={id} value={index} onChange={({ target }) => setIndex(Number(target.value))}>
        {labelled.map((option, position) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and may have one label
          <option key={position} value={position}>
            {String(option.label)}
          </option>
        ))}
      </select>
      <button type="button" className="option" onClick={() => onChoose(String(chosen), value)}>
        {texts.choose}
      </button>
    </div>
  )
}
