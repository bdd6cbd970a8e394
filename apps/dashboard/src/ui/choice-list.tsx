import { isComposing } from '@botstead/contract/composing'
import { type ReactNode, useId, useState } from 'react'
import styles from './choice-list.module.css'
import formStyles from './form.module.css'
import { shownName } from './name.js'

/** One thing to choose. */
export interface Choice {
  /** Unique in its list. */
  key: string
  label: string
  /** A distinction from others with the same label, such as the kind of object. */
  hint: string
}

interface ChoiceListProps<Item extends Choice> {
  /** Label of the field for screen readers. */
  label: string
  text: string
  change: (text: string) => void
  choices: readonly Item[]
  choose: (choice: Item) => void
  /** Text instead of choices; undefined while they are loaded. */
  none: string | undefined
  /** Below the choices. */
  children?: ReactNode
}

/** A field whose text narrows the list below it: the arrows move in the list, and Enter chooses. */
export function ChoiceList<Item extends Choice>(props: ChoiceListProps<Item>) {
  const { label, text, change, choices, choose, none, children } = props
  const [marked, mark] = useState(0)
  const listId = useId()
  const current = Math.min(marked, choices.length - 1)
  const move = (to: number) => {
    mark(to)
    document.getElementById(`${listId}-${to}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <>
      <input
        // No field for a search: browsers would empty that by Escape, which closes what this is in.
        type="text"
        autoComplete="off"
        role="combobox"
        className={`${formStyles.input} ${formStyles.main}`}
        aria-label={label}
        placeholder={label}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={choices.length > 0 ? `${listId}-${current}` : undefined}
        value={text}
        onChange={({ target }) => {
          change(target.value)
          mark(0)
        }}
        onKeyDown={(event) => {
          const choice = choices[current]
          if (isComposing(event.nativeEvent)) return
          if (event.key === 'ArrowDown') move(Math.min(current + 1, choices.length - 1))
          else if (event.key === 'ArrowUp') move(Math.max(current - 1, 0))
          else if (event.key !== 'Enter') return
          else if (choice !== undefined) choose(choice)
          event.preventDefault()
        }}
      />
      <div role="listbox" id={listId} aria-label="Choices" className={styles.choices}>
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
          <div
            key={choice.key}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={styles.choice}
            onClick={() => choose(choice)}
          >
            <span>{shownName(choice.label)}</span>
            <span className="muted">{choice.hint}</span>
          </div>
        ))}
      </div>
      {choices.length === 0 && none !== undefined && <p className="muted">{none}</p>}
      {children}
    </>
  )
}
