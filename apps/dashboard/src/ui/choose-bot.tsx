import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useBotSearch } from '../api/bot-names.js'
import { read } from '../api/queries.js'
import { useAddressSearch, usePathTo, useScope } from '../frame/address.js'
import { botstead } from './commands.js'
import { TextField } from './form.js'
import { ItemList, Pane, Part } from './part.js'
import { Empty, ErrorPanel, Skeleton } from './states.js'

/** Asks for a bot on a screen whose things belong to one, while all bots are chosen. */
export function ChooseBot({ screen, what }: { screen: string; what: string }) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const [search] = useAddressSearch()
  const { data, error, refetch } = useQuery(read({ workspaceId }, 'listBots', { pageSize: 100 }))
  const [text, setText] = useState('')
  const found = useBotSearch(text.trim())
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  if (data.bots.length === 0) {
    return (
      <Empty calls={[{ name: 'Command', text: botstead(['bots', 'create', 'First']) }]}>
        {what} belong to a bot, and there is none yet: <Link to={pathTo('bots')}>create one</Link>.
      </Empty>
    )
  }
  const [only, another] = data.bots
  if (only !== undefined && another === undefined) {
    return <Navigate to={`/${workspaceId}/${only.id}/${screen}`} search={search} replace />
  }
  const bots = found.data?.bots ?? data.bots
  return (
    <Pane>
      <Part title="Choose a bot" hint={`${what} belong to a bot.`}>
        {data.meta.nextToken !== undefined && (
          <TextField
            label="Name of the bot"
            hint="Part of the name; the newest bots that contain it are shown."
            maxLength={200}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {bots.length === 0 && <p className="muted">No bot has this text in its name.</p>}
        <ItemList
          items={bots}
          idOf={({ id }) => id}
          describe={({ id, name }) => ({
            name: (
              <Link to={`/${workspaceId}/${id}/${screen}`} search={search}>
                {name || id}
              </Link>
            ),
            facts: id,
          })}
        />
      </Part>
    </Pane>
  )
}
