import { type ComponentProps, useState } from 'react'
import { createPortal } from 'react-dom'
import { useBotNames, useBotSearch } from '../api/bot-names.js'
import { ChoiceList } from './choice-list.js'
import { Dialog } from './dialog.js'
import { FieldFrame } from './form.js'
import formStyles from './form.module.css'
import { ShowMore } from './show-more.js'
import { ErrorPanel } from './states.js'

interface BotSelectProps extends Omit<ComponentProps<'select'>, 'value' | 'onChange' | 'children'> {
  /** Empty for none. */
  botId: string
  onChange: (botId: string) => void
  /** Name of the choice that stands for no bot; there is none if omitted. */
  none?: string
}

/** The choice that opens a search. */
const search = 'search'

/** A choice of a bot: of the newest ones in a list, and of all by a search where there are more. */
export function BotSelect({ botId, onChange, none, ...select }: BotSelectProps) {
  const { bots, hasMore, nameOf } = useBotNames()
  const [isSearching, setSearching] = useState(false)
  const isListed = botId === '' || bots.some(({ id }) => id === botId)
  return (
    <>
      <select
        {...select}
        value={botId}
        onChange={({ target }) =>
          target.value === search ? setSearching(true) : onChange(target.value)
        }
      >
        {none !== undefined && <option value="">{none}</option>}
        {hasMore && <option value={search}>Search by name …</option>}
        {!isListed && <option value={botId}>{nameOf(botId)}</option>}
        {bots.map(({ id, name }) => (
          <option key={id} value={id}>
            {name || id}
          </option>
        ))}
      </select>
      {/* Not inside of the form, if it is in one: Enter in a field would send that. */}
      {isSearching &&
        createPortal(
          <BotSearch
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

/** A field of a form for a bot. */
export function BotField(props: Pick<BotSelectProps, 'botId' | 'onChange'>) {
  return (
    <FieldFrame label="Bot">
      {(described) => <BotSelect {...described} {...props} className={formStyles.input} />}
    </FieldFrame>
  )
}

interface BotSearchProps {
  onChoose: (botId: string) => void
  onClose: () => void
}

/** Finds a bot of the workspace by a part of its name, or by its id. */
function BotSearch({ onChoose, onClose }: BotSearchProps) {
  const [text, setText] = useState('')
  const { bots, query } = useBotSearch(text)
  return (
    <Dialog title="Choose a bot" onClose={onClose}>
      {query.error !== null && (
        <ErrorPanel error={query.error} retry={() => void query.refetch()} />
      )}
      <ChoiceList
        label="Name or id of the bot"
        text={text}
        change={setText}
        choices={bots.map(({ id, name }) => ({ key: id, label: name || id, hint: id }))}
        choose={({ key }) => onChoose(key)}
        none={query.isFetching ? undefined : 'No bot has this text in its name.'}
      >
        <ShowMore query={query} />
      </ChoiceList>
    </Dialog>
  )
}
