import { useQuery } from '@tanstack/react-query'
import { useScope } from '../frame/address.js'
import { read } from './queries.js'

/** The bots of the workspace, for their names; the bar reads the same list. */
export function useBotNames() {
  const { workspaceId } = useScope()
  const { data, isPending } = useQuery(read({ workspaceId }, 'listBots', { pageSize: 100 }))
  const bots = data?.bots ?? []
  return {
    bots,
    isPending,
    nameOf: (id: string) => bots.find((bot) => bot.id === id)?.name || id,
  }
}
