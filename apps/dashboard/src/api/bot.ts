import { useQuery } from '@tanstack/react-query'
import { useScope } from './address.js'
import { call, read } from './queries.js'

// Installations by alias: several of one integration have the same id.
export const byAlias = { headers: { 'x-multiple-integrations': 'true' } }

/** A bot with its definition and its installations by alias. */
export function useBot(id: string) {
  const { workspaceId } = useScope()
  return useQuery({
    ...read({ workspaceId }, 'getBot', { id }),
    queryFn: async ({ signal }) =>
      await call({ workspaceId }, 'getBot', { id }, { signal, ...byAlias }),
  })
}
