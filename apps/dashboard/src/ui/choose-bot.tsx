import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../api/queries.js'
import { useAddressSearch, usePathTo, useScope } from '../frame/address.js'
import { ItemList, Pane, Part } from './part.js'
import { Empty, ErrorPanel, Skeleton } from './states.js'

/** Asks for a bot on a screen whose things belong to one, while all bots are chosen. */
export function ChooseBot({ screen, what }: { screen: string; what: string }) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const [search] = useAddressSearch()
  const { data, error, refetch } = useQuery(read({ workspaceId }, 'listBots', { pageSize: 100 }))
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  if (data.bots.length === 0) {
    return (
      <Empty calls={[{ name: 'Command', text: 'npx botstead bots create First' }]}>
        {what} belong to a bot, and there is none yet: <Link to={pathTo('bots')}>create one</Link>.
      </Empty>
    )
  }
  return (
    <Pane>
      <Part title="Choose a bot" hint={`${what} belong to a bot.`}>
        <ItemList
          items={data.bots}
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
