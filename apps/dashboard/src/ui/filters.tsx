import { isComposing } from '@botstead/contract/composing'
import { Plus, X } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useRef, useState } from 'react'
import { useAddressSearch } from '../api/address.js'
import { BotSelect } from './bot-select.js'
import { Button } from './button.js'
import styles from './filters.module.css'
import { fromLocal, toLocal } from './local-time.js'
import menuStyles from './menu.module.css'
import { shownName } from './name.js'
import { useShortcuts } from './shortcuts.js'
import { useTypedText } from './typed-text.js'

/** One thing that a list can be restricted by; its value is in the address under `id`. */
export interface FilterField {
  id: string
  label: string
  /** The values to choose from; free text if omitted. */
  options?: readonly { value: string; label: string }[]
  /** Values to complete a text with, for example the known tags. */
  suggestions?: readonly string[]
  /** Example of a value. */
  placeholder?: string
  /**
   * `time` for a moment, which is written in the zone of the reader and is ISO 8601 in the address; `bot` for the id of
   * a bot, which is chosen by its name.
   */
  kind?: 'text' | 'time' | 'bot'
}

interface FiltersProps {
  fields: readonly FilterField[]
  /** Id of the field for free words, which is always shown. */
  search?: string
}

/** The filters of a list as chips, joined by AND; all of them are in the address. */
export function Filters({ fields, search }: FiltersProps) {
  const [values, change] = useAddressSearch()
  const [added, setAdded] = useState<string>()
  const searchInput = useRef<HTMLInputElement>(null)
  const [isChoosing, setChoosing] = useState(false)
  useShortcuts({
    '/': {
      label: 'Filter',
      run: () => (search === undefined ? setChoosing(true) : searchInput.current?.focus()),
    },
  })
  const chips = fields.filter(
    ({ id }) => id !== search && ((values[id] ?? '') !== '' || id === added),
  )
  const free = fields.find(({ id }) => id === search)
  const isFiltered = fields.some(({ id }) => (values[id] ?? '') !== '')
  return (
    <search className={styles.bar}>
      {free !== undefined && (
        <TextValue
          ref={searchInput}
          field={free}
          value={values[free.id] ?? ''}
          change={(value) => change({ [free.id]: value }, { replace: true })}
          className={styles.search}
        />
      )}
      {chips.map((field) => (
        <span key={field.id} className={styles.chip}>
          <span className={styles.name}>{field.label}</span>
          <FilterValue
            field={field}
            value={values[field.id] ?? ''}
            isNew={field.id === added}
            change={(value) => change({ [field.id]: value })}
          />
          <Button
            kind="quiet"
            icon={<X size={12} />}
            aria-label={`Remove the filter ${field.label}`}
            onClick={() => {
              setAdded(undefined)
              change({ [field.id]: undefined })
            }}
          />
        </span>
      ))}
      <DropdownMenu.Root modal={false} open={isChoosing} onOpenChange={setChoosing}>
        <DropdownMenu.Trigger asChild>
          <Button kind="quiet" icon={<Plus size={14} />}>
            Filter
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            className={menuStyles.menu}
            align="start"
            onCloseAutoFocus={(event) => event.preventDefault()}
          >
            {fields
              .filter(({ id }) => id !== search && !chips.some((chip) => chip.id === id))
              .map(({ id, label }) => (
                <DropdownMenu.Item
                  key={id}
                  className={menuStyles.item}
                  onSelect={() => setAdded(id)}
                >
                  {label}
                </DropdownMenu.Item>
              ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {isFiltered && (
        <Button
          kind="quiet"
          onClick={() => change(Object.fromEntries(fields.map(({ id }) => [id, undefined])))}
        >
          Clear
        </Button>
      )}
    </search>
  )
}

interface ValueProps {
  field: FilterField
  value: string
  change: (value: string | undefined) => Promise<void>
}

function FilterValue({ field, value, isNew, change }: ValueProps & { isNew: boolean }) {
  if (field.options !== undefined) {
    return (
      <select
        className={styles.value}
        aria-label={field.label}
        value={value}
        // biome-ignore lint/a11y/noAutofocus: the reader just chose this filter
        autoFocus={isNew}
        onChange={(event) => change(event.target.value)}
      >
        <option value="">any</option>
        {field.options.map((option) => (
          <option key={option.value} value={option.value}>
            {shownName(option.label)}
          </option>
        ))}
      </select>
    )
  }
  if (field.kind === 'bot') {
    return (
      <BotSelect
        className={styles.value}
        aria-label={field.label}
        none="any"
        botId={value}
        autoFocus={isNew}
        onChange={change}
      />
    )
  }
  if (field.kind === 'time') {
    return (
      <input
        type="datetime-local"
        className={styles.value}
        aria-label={field.label}
        value={toLocal(value)}
        // biome-ignore lint/a11y/noAutofocus: the reader just chose this filter
        autoFocus={isNew}
        onChange={(event) => change(fromLocal(event.target.value))}
      />
    )
  }
  return <TextValue field={field} value={value} change={change} isNew={isNew} />
}

interface TextValueProps extends ValueProps {
  isNew?: boolean
  className?: string | undefined
  ref?: React.Ref<HTMLInputElement>
}

function TextValue({ field, value, change, isNew = false, className, ref }: TextValueProps) {
  const [text, setText, applyNow] = useTypedText(value, (text) =>
    change(text === '' ? undefined : text),
  )
  const listId = `values of ${field.id}`
  return (
    <>
      <input
        ref={ref}
        type="search"
        className={className ?? styles.value}
        aria-label={field.label}
        placeholder={field.placeholder ?? field.label}
        value={text}
        list={field.suggestions === undefined ? undefined : listId}
        // biome-ignore lint/a11y/noAutofocus: the reader just chose this filter
        autoFocus={isNew}
        onChange={({ target }) => setText(target.value)}
        onBlur={applyNow}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return
          if (event.key === 'Enter') applyNow()
          if (event.key === 'Escape') {
            // Browsers would empty the field: the text stays, and single keys are those of the page again.
            event.preventDefault()
            event.currentTarget.blur()
          }
        }}
      />
      {field.suggestions !== undefined && (
        <datalist id={listId}>
          {field.suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  )
}
