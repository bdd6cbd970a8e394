import { useId, useState } from 'react'
import { fill } from '../words/index.js'
import { useWords } from './context.js'
import type { Choose } from './payload.js'
import { isFilled, type Members } from './payload-values.js'

interface OptionsProps {
  label: string
  options: readonly Members[]
  /** The label of the option that was chosen; undefined while they can be pressed. */
  answer: string | undefined
  onChoose: Choose
}

/** Options as buttons, of which one can be pressed once. */
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

/** Options as a list that opens, with a button: a change of the list alone must not send anything. */
export function Dropdown({ label, options, answer, onChoose }: OptionsProps) {
  const words = useWords()
  const id = useId()
  const [index, setIndex] = useState(0)
  if (answer !== undefined) return <p className="chosen">{fill(words.chosen, { name: answer })}</p>
  const known = options.filter((option) => isFilled(option.label))
  const { label: chosen, value } = known[index] ?? {}
  if (known.length === 0) return null
  return (
    <div className="dropdown">
      <label className="sr" htmlFor={id}>
        {label}
      </label>
      <select id={id} value={index} onChange={({ target }) => setIndex(Number(target.value))}>
        {known.map((option, position) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: options never move, and may have one label
          <option key={position} value={position}>
            {String(option.label)}
          </option>
        ))}
      </select>
      <button type="button" className="option" onClick={() => onChoose(String(chosen), value)}>
        {words.choose}
      </button>
    </div>
  )
}
