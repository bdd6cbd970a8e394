import type { Client } from '@botstead/contract'
import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import { type ChangeId, changes } from './changes.js'
import { clientOf, isFinal, isOfRole, isSignedOut, type Scope } from './client.js'

type OperationId = keyof Client
type Input<Id extends OperationId> = Parameters<Client[Id]>[0]
type Output<Id extends OperationId> = Awaited<ReturnType<Client[Id]>>

/** The common options of queries: a query is not repeated after an error that time does not mend. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (failures, error) => failures < 2 && !isSignedOut(error) && !isFinal(error),
    },
  },
})

let onSignedOut = () => {}

/** Asks for a sign-in, or for the role of the reader again, if that is what a call was refused for. */
export function noteRefusal(error: unknown): void {
  if (isSignedOut(error)) onSignedOut()
  if (isOfRole(error)) void refresh('getWorkspaceMember')
}

/** Registers who asks for a sign-in when a call was refused because the session has ended. */
export function watchSession(listener: () => void): void {
  onSignedOut = listener
}

/** Calls an operation by its id. */
export async function call<Id extends OperationId>(
  scope: Scope,
  id: Id,
  input: Input<Id>,
  options: Parameters<Client[Id]>[1] = {},
): Promise<Output<Id>> {
  // A union of methods has no callable type; id and input belong together by the signature above.
  const method = clientOf(scope)[id] as (
    input: Input<Id>,
    options: Parameters<Client[Id]>[1],
  ) => Promise<Output<Id>>
  try {
    return await method(input, options)
  } catch (error) {
    if (id !== 'createSession') noteRefusal(error)
    throw error
  }
}

/** The query of a reading operation: its key is the id of the operation, the scope and the input. */
export function read<Id extends OperationId>(scope: Scope, id: Id, input: Input<Id>) {
  return queryOptions({
    queryKey: [id, scope, input],
    queryFn: async ({ signal }): Promise<Output<Id>> => await call(scope, id, input, { signal }),
    placeholderData: keepPreviousData,
  })
}

interface Page {
  meta: { nextToken?: string }
}

/** Operations with pages. */
export type ListId = {
  [Id in OperationId]: Output<Id> extends Page ? Id : never
}[OperationId]

/** The query of a list, page by page. */
export function list<Id extends ListId>(scope: Scope, id: Id, input: Input<Id>) {
  return infiniteQueryOptions({
    queryKey: [id, scope, input, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }): Promise<Output<Id>> =>
      await call(scope, id, { ...input, nextToken: pageParam } as Input<Id>, { signal }),
    getNextPageParam: (page) => (page as Page).meta.nextToken,
    placeholderData: keepPreviousData,
  })
}

/** The query of a list in which, with rare filters, pages are empty before the last one: pending until there is a row. */
export function pendingUntilRow<Query extends { isPending: boolean; hasNextPage: boolean }>(
  query: Query,
  rows: readonly unknown[],
) {
  return { ...query, isPending: query.isPending || (rows.length === 0 && query.hasNextPage) }
}

/** The pages of a query as TanStack Query names them; a query without pages has none of this. */
export interface FurtherPages {
  hasNextPage?: boolean
  isFetching?: boolean
  isFetchNextPageError?: boolean
  fetchNextPage?: () => unknown
}

/**
 * Reads the pages of a list one after the other while they are wanted. It stops at one that fails: the reader sees the
 * error, and asks for the page again.
 */
export function useFurtherPages(query: FurtherPages, areWanted: boolean): void {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query
  const isNext = areWanted && hasNextPage && !isFetching && !isFetchNextPageError
  useEffect(() => {
    if (isNext) void fetchNextPage?.()
  }, [isNext, fetchNextPage])
}

/**
 * Reads again what was read with one of these operations, in any scope. What is not on the screen is
 * forgotten, so that the next screen does not show what has been deleted until its own reading ends.
 */
export async function refresh(...ids: OperationId[]): Promise<void> {
  const predicate = ({ queryKey: [id] }: { queryKey: readonly unknown[] }) =>
    ids.some((changed) => changed === id)
  queryClient.removeQueries({ type: 'inactive', predicate })
  await queryClient.invalidateQueries({ predicate })
}

/** Reads again what an operation has changed. */
export async function refreshAfter(id: ChangeId): Promise<void> {
  await refresh(...changes[id])
}

/** Calls an operation that changes something, and reads again what it has changed. */
export async function change<Id extends ChangeId>(
  scope: Scope,
  id: Id,
  input: Input<Id>,
  options: Parameters<Client[Id]>[1] = {},
): Promise<Output<Id>> {
  const output = await call(scope, id, input, options)
  await refreshAfter(id)
  return output
}
