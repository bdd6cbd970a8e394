import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { call, change, list, queryClient, read, refreshAfter } from '../../api/queries.js'

type Client = import('@botstead/contract').Client
export type ListInput = NonNullable<Parameters<Client['listFiles']>[0]>
type Reindexing = Omit<Parameters<Client['reindexFile']>[0], 'id'>
type UpdateInput = Omit<Parameters<Client['updateFileMetadata']>[0], 'id'>

/** A file without its content. */
export type File = Awaited<ReturnType<Client['getFile']>>['file']

/** Milliseconds after which something that is being worked on is read again. */
const workingPause = 1000

/** Whether the server is doing something with the file, so that it will change by itself. */
function isChanging({ status }: File): boolean {
  return status === 'indexing_pending'
}

/** The files of the bot that match, page by page; read again while one is being indexed. */
export function useFiles(input: ListInput) {
  const { botId } = useScope()
  const query = useInfiniteQuery({
    ...list({ botId }, 'listFiles', { pageSize: 100, ...input }),
    enabled: botId !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ files }) => files.some(isChanging)) === true ? workingPause : false,
  })
  return { query, files: query.data?.pages.flatMap(({ files }) => files) ?? [] }
}

/** The folders directly below a prefix. */
export function useFolders(prefix: string) {
  const { botId } = useScope()
  return useQuery({
    ...read({ botId }, 'listFileFolders', { prefix, pageSize: 100 }),
    enabled: botId !== undefined,
  })
}

/** Names of the tags of the files. */
export function useTagNames() {
  const { botId } = useScope()
  return useQuery({
    ...read({ botId }, 'listFileTags', { pageSize: 100 }),
    enabled: botId !== undefined,
  })
}

/** @param inBot the bot of the file; that of the address by default */
export function useFile(id: string, inBot?: string) {
  const { botId: ofAddress } = useScope()
  const botId = inBot ?? ofAddress
  return useQuery({
    ...read({ botId }, 'getFile', { id }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isChanging(state.data.file) ? workingPause : false,
  })
}

/** Reads a file before it is opened. */
export function usePrefetchFile() {
  const { botId } = useScope()
  return ({ id }: File) => void queryClient.prefetchQuery(read({ botId }, 'getFile', { id }))
}

/** The passages of a file in reading order; requested again when the file has changed, as at the end of its indexing. */
export function usePassages({ id, updatedAt }: File) {
  const { botId } = useScope()
  const passages = list({ botId }, 'listFilePassages', { id, pageSize: 100 })
  const query = useInfiniteQuery({ ...passages, queryKey: [...passages.queryKey, updatedAt] })
  return { query, passages: query.data?.pages.flatMap(({ passages }) => passages) ?? [] }
}

/** The indexing report of a file; requested again when the file has changed. */
export function useIndexingReport({ id, updatedAt, indexingOmissions }: File) {
  const { botId } = useScope()
  return useQuery({
    queryKey: ['getFileIndexingReport', { botId }, { id, updatedAt, indexingOmissions }],
    queryFn: async ({ signal }) =>
      await call({ botId }, 'getFileIndexingReport', { id }, { signal }),
  })
}

/** The changes of files; each rejects with the error of the server. */
export function useFileActions() {
  const { botId } = useScope()
  const scope = { botId }
  /** One after the other, because each is a transaction of its own; the first failure is reported at the end. */
  const forEach = async (ids: readonly string[], act: (id: string) => Promise<unknown>) => {
    const failures: unknown[] = []
    for (const id of ids) await act(id).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  return {
    update: async (id: string, input: UpdateInput): Promise<void> => {
      await change(scope, 'updateFileMetadata', { id, ...input })
    },
    remove: async (ids: readonly string[]) =>
      await forEach(ids, (id) => call(scope, 'deleteFile', { id })).finally(() =>
        refreshAfter('deleteFile'),
      ),
    reindex: async (ids: readonly string[], options: Reindexing = {}) =>
      await forEach(ids, (id) => call(scope, 'reindexFile', { id, ...options })).finally(() =>
        refreshAfter('reindexFile'),
      ),
  }
}
