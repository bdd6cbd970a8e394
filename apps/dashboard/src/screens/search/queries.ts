import { useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { read } from '../../api/queries.js'

type Client = import('@botstead/contract').Client
export type SearchInput = Parameters<Client['explainSearch']>[0]
export type Explanation = Awaited<ReturnType<Client['explainSearch']>>

/** A search with its explanation; no request is made without a question. */
export function useExplanation(input: SearchInput) {
  const { botId } = useScope()
  return useQuery({
    ...read({ botId }, 'explainSearch', input),
    enabled: botId !== undefined && input.query.trim() !== '',
    // Explaining takes longer than searching, and nothing changes while somebody reads.
    staleTime: 60_000,
  })
}

/** Files whose keys contain a text, to choose one of them. */
export function useFileSuggestions(text: string) {
  const { botId } = useScope()
  const input = { text, pageSize: 20, sortField: 'key', sortDirection: 'asc' } as const
  return useQuery({
    ...read({ botId }, 'listFiles', input),
    enabled: botId !== undefined,
    staleTime: 30_000,
  })
}

/** The key of a file that is known by its id. */
export function useFileKey(id: string | undefined): string | undefined {
  const { botId } = useScope()
  const { data } = useQuery({
    ...read({ botId }, 'getFile', { id: id ?? '' }),
    enabled: botId !== undefined && id !== undefined,
  })
  return id === undefined ? undefined : data?.file.key
}
