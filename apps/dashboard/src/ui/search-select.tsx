import { type ComponentProps, type ComponentType, useState } from 'react'
import { createPortal } from 'react-dom'
import { shownName } from './name.js'

/** The properties of a search that opens as a dialog. */
export interface SearchProps {
  onChoose: (id: string) => void
  onClose: () => void
}

interface Item {
  id: string
  name: string
}

export interface SearchSelectProps
  extends Omit<ComponentProps<'select'>, 'value' | 'onChange' | 'children'> {
  /** Id of what is chosen; empty for nothing. */
  value: string
  onChange: (id: string) => void
  /** Name of the choice that stands for nothing; there is none if omitted. */
  none?: string
  newest: readonly Item[]
  /** Whether there are others. */
  hasMore: boolean
  /** The name of one that may not be among the newest. */
  nameOf: (id: string) => string
  /** Finds the others. */
  Search: ComponentType<SearchProps>
}

/** The choice that opens the search. */
const search = 'search'

/** A choice among the newest of many things in a list, and among all by a search where there are more. */
export function SearchSelect(props: SearchSelectProps) {
  const { value, onChange, none, newest, hasMore, nameOf, Search, ...select } = props
  const [isSearching, setSearching] = useState(false)
  const isListed = value === '' || newest.some(({ id }) => id === value)
  return (
    <>
      <select
        {...select}
        value={value}
        onChange={({ target }) =>
          target.value === search ? setSearching(true) : onChange(target.value)
        }
      >
        {none !== undefined && <option value="">{none}</option>}
        {hasMore && <option value={search}>Search by name …</option>}
        {!isListed && <option value={value}>{shownName(nameOf(value))}</option>}
        {newest.map(({ id, name }) => (
          <option key={id} value={id}>
            {shownName(name || id)}
          </option>
        ))}
      </select>
      {/* Not inside of the form, if it is in one: Enter in a field would send that. */}
      {isSearching &&
        createPortal(
          <Search
            onClose={() => setSearching(false)}
            onChoose={(id) => {
              setSearching(false)
              onChange(id)
            }}
          />,
          document.body,
        )}
    </>
  )
}
