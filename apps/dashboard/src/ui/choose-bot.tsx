import { Link, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAddressSearch, usePathTo, useScope } from '../api/address.js'
import { useBotNames, useBotSearch } from '../api/bot-names.js'
import { botstead } from './commands.js'
import { TextField } from './form.js'
import { Name } from './name.js'
import { ItemList, Pane, Part } from './part.js'
import { ShowMore } from './show-more.js'
import { Empty, ErrorPanel, Skeleton } from './states.js'

/** Asks for a bot on a screen whose things belong to one, while all bots are chosen. */
export function ChooseBot({ screen, what }: { screen: string; what: string }) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const [search] = useAddressSearch()
  const newest = useBotNames()
  const [text, setText] = useState('')
  const { query, bots: found } = useBotSearch(text, { isEnabled: newest.hasMore })
  const error = newest.error ?? query.error
  if (error !== null) {
    return (
      <ErrorPanel error={error} retry={() => void newest.refetch().then(() => query.refetch())} />
    )
  }
  if (newest.isPending) return <Skeleton />
  if (newest.bots.length === 0) {
    return (
      <Empty calls={[{ name: 'Command', text: botstead(['bots', 'create', 'First']) }]}>
        {what} belong to a bot, and there is none yet: <Link to={pathTo('bots')}>create one</Link>.
      </Empty>
    )
  }
  const [only, another] = newest.bots
  if (only !== undefined && another === undefined) {
    return <Navigate to={`/${workspaceId}/${only.id}/${screen}`} search={search} replace />
  }
  const bots = query.data === undefined ? newest.bots : found
  return (
    <Pane>
      <Part title="Choose a bot" hint={`${what} belong to a bot.`}>
        {newest.hasMore && (
          <TextField
            label="Name of the bot"
            hint="Part of the name, or the id."
            maxLength={200}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {bots.length === 0 && !query.isFetching && (
          <p className="muted">No bot has this text in its name.</p>
        )}
        <ItemList
          items={bots}
          idOf={({ id }) => id}
          describe={({ id, name }) => ({
            name: (
              <Link to={`/${workspaceId}/${id}/${screen}`} search={search}>
                <Name>{name || id}</Name>
              </Link>
            ),
            facts: id,
          })}
        />
        <ShowMore query={query} />
      </Part>
    </Pane>
  )
}
