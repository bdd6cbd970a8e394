import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { TextField } from '../../ui/form.js'
import { Name } from '../../ui/name.js'
import { useFileKey, useFileSuggestions } from './queries.js'
import styles from './search.module.css'

/** Chooses a file that should have been found, by its key. */
export function FileChoice() {
  const [{ missed }, change] = useAddressSearch()
  const [typed, setTyped] = useState('')
  const listId = useId()
  const { data } = useFileSuggestions(typed)
  const key = useFileKey(missed)
  if (missed !== undefined) {
    return (
      <div className={styles.chosen}>
        <span>
          Why not{' '}
          <code>
            <Name>{key ?? missed}</Name>
          </code>
          ?
        </span>
        <Button
          kind="quiet"
          icon={<X size={14} />}
          aria-label="Ask about no file"
          onClick={() => change({ missed: undefined })}
        />
      </div>
    )
  }
  return (
    <>
      <TextField
        label="Why not this file?"
        placeholder="Part of the key"
        hint="A file that should have been found: shows where it ranks."
        list={listId}
        value={typed}
        onChange={({ target }) => {
          const file = data?.files.find(({ key }) => key === target.value)
          setTyped(file === undefined ? target.value : '')
          if (file !== undefined) change({ missed: file.id })
        }}
      />
      <datalist id={listId}>
        {data?.files.map(({ id, key }) => (
          <option key={id} value={key} />
        ))}
      </datalist>
    </>
  )
}
