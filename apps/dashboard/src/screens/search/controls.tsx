import { useState } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { CheckField, TextField } from '../../ui/form.js'
import { useTypedText } from '../../ui/typed-text.js'
import { nameOf, type SettingName, type Side } from './parameters.js'
import styles from './search.module.css'

/** The parameters of a search as controls; they are in the address. */
export function Controls({ side }: { side: Side }) {
  const [search, change] = useAddressSearch()
  const current = (name: SettingName) => search[nameOf(side, name)] ?? ''
  const set = (name: SettingName, value: string | undefined) =>
    change({ [nameOf(side, name)]: value }, { replace: true })
  const minScore = current('minScore')
  const label = side === 'left' ? 'Settings' : 'Other settings'
  const [isOpen] = useState(() => side === 'right' || matchMedia('(width >= 900px)').matches)
  return (
    // On a phone the passages come first.
    <details open={isOpen} className={styles.settings}>
      <summary>{label}</summary>
      <fieldset className={styles.controls} aria-label={label}>
        <div className={styles.numbers}>
          <TextField
            label="Limit"
            type="number"
            min={1}
            max={50}
            placeholder="20"
            value={current('limit')}
            onChange={({ target }) => set('limit', target.value)}
          />
          <TextField
            label="Neighbours"
            type="number"
            min={0}
            max={10}
            placeholder="1"
            title="Passages before and after each match"
            value={current('context')}
            onChange={({ target }) => set('context', target.value)}
          />
        </div>
        <TextField
          label={`Lowest score: ${Number(minScore || 0).toFixed(2)}`}
          type="range"
          min={0}
          max={1}
          step={0.01}
          hint="Begin with 0.40 for a bot that should say nothing rather than something wrong."
          value={minScore || '0'}
          onChange={({ target }) =>
            set('minScore', target.value === '0' ? undefined : target.value)
          }
        />
        <TagsField
          value={current('tags')}
          apply={(tags) => set('tags', tags === '' ? undefined : tags)}
        />
        <CheckField
          label="Headings above the text"
          checked={current('breadcrumb') === 'yes'}
          onChange={({ target }) => set('breadcrumb', target.checked ? 'yes' : undefined)}
        />
        <CheckField
          label="One passage per file"
          checked={current('consolidate') === 'yes'}
          onChange={({ target }) => set('consolidate', target.checked ? 'yes' : undefined)}
        />
      </fieldset>
    </details>
  )
}

function TagsField({ value, apply }: { value: string; apply: (text: string) => Promise<void> }) {
  const [text, setText] = useTypedText(value, apply)
  return (
    <TextField
      label="Tags of the files"
      placeholder="team=office, lang=en"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}
