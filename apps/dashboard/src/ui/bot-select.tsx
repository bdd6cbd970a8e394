import { useState } from 'react'
import { useBotNames, useBotSearch } from '../api/bot-names.js'
import { ChoiceList } from './choice-list.js'
import { Dialog } from './dialog.js'
import { FieldFrame } from './form.js'
import formStyles from './form.module.css'
import { type SearchProps, SearchSelect, type SearchSelectProps } from './search-select.js'
import { ShowMore } from './show-more.js'
import { ErrorPanel } from './states.js'

type BotSelectProps = Omit<
  SearchSelectProps,
  'value' | 'newest' | 'hasMore' | 'nameOf' | 'Search'
> & {
  /** Empty for none. */
  botId: string
}

/** A choice of a bot: of the newest ones in a list, and of all by a search where there are more. */
export function BotSelect({ botId, ...select }: BotSelectProps) {
  const { bots, hasMore, nameOf } = useBotNames()
  return (
    <SearchSelect
      {...select}
      value={botId}
      newest={bots}
      hasMore={hasMore}
      nameOf={nameOf}
      Search={BotSearch}
    />
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

/** Finds a bot of the workspace by a part of its name, or by its id. */
function BotSearch({ onChoose, onClose }: SearchProps) {
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
        none={query.isFetching || query.isError ? undefined : 'No bot has this text in its name.'}
      >
        <ShowMore query={query} />
      </ChoiceList>
    </Dialog>
  )
}
