import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { useScope } from './address.js'
import { list, read } from './queries.js'
import { useMay } from './role.js'

/** Bots of one request for names. */
const maxIds = 50
/** Maximum characters of a name that are looked for. */
const maxNameLength = 200

const idOfBot = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * The newest bots of the workspace, which the bar shows too, and the name of any other: those that the page shows are
 * requested together.
 */
export function useBotNames() {
  const { workspaceId } = useScope()
  const { data, isPending, error, refetch } = useQuery({
    ...read({ workspaceId }, 'listBots', { pageSize: 100 }),
    enabled: useMay()('bots:read'),
  })
  const bots = data?.bots ?? []
  const [wanted, setWanted] = useState<readonly string[]>([])
  const chunks = Array.from({ length: Math.ceil(wanted.length / maxIds) }, (_, at) =>
    wanted.slice(at * maxIds, (at + 1) * maxIds),
  )
  const { names, answered } = useQueries({
    queries: chunks.map((ids) => ({
      ...read({ workspaceId }, 'listBots', { ids: [...ids], pageSize: 100 }),
      staleTime: 60_000,
    })),
    combine: combineNames,
  })
  const known = useMemo(
    () => new Map([...names, ...(data?.bots ?? []).map(({ id, name }) => [id, name] as const)]),
    [names, data],
  )
  // Rows ask while they are drawn, and all rows of a moment together.
  const missing = useRef<Set<string>>(undefined)
  const nameOf = useCallback(
    (id: string) => {
      const name = known.get(id)
      if (name === undefined && !isPending && id !== '') {
        if (missing.current === undefined) {
          missing.current = new Set()
          queueMicrotask(() => {
            const asked = missing.current ?? []
            missing.current = undefined
            setWanted((before) => {
              const fresh = [...asked].filter((each) => !before.includes(each))
              return fresh.length === 0 ? before : [...before, ...fresh]
            })
          })
        }
        missing.current.add(id)
      }
      return name || id
    },
    [known, isPending],
  )
  /** Whether a bot of which `nameOf` was asked is not there, or not for the reader. */
  const isGone = (id: string) =>
    !known.has(id) && answered[Math.floor(wanted.indexOf(id) / maxIds)] === true
  const hasMore = data?.meta.nextToken !== undefined
  return { bots, isPending, error, refetch, nameOf, isGone, hasMore }
}

interface Named {
  data: { bots: readonly { id: string; name: string }[] } | undefined
  isPlaceholderData: boolean
}

/** The names that were found, and for each request whether it is answered. */
function combineNames(results: readonly Named[]) {
  return {
    names: results.flatMap(
      ({ data }) => data?.bots.map(({ id, name }) => [id, name] as const) ?? [],
    ),
    answered: results.map(
      ({ data, isPlaceholderData }) => data !== undefined && !isPlaceholderData,
    ),
  }
}

/**
 * The bots of the workspace whose names contain a text, or the one whose id it is, newest first and page by page; all
 * bots match an empty text. While a text is looked for, those of the one before that contain it too.
 */
export function useBotSearch(text: string, { isEnabled = true } = {}) {
  const { workspaceId } = useScope()
  const wanted = text.trim().slice(0, maxNameLength)
  const name = useDeferredValue(wanted)
  const selection = idOfBot.test(name) ? { ids: [name.toLowerCase()] } : name !== '' && { name }
  const query = useInfiniteQuery({
    ...list({ workspaceId }, 'listBots', { pageSize: 100, ...selection }),
    enabled: useMay()('bots:read') && isEnabled,
  })
  const found = query.data?.pages.flatMap(({ bots }) => bots) ?? []
  const isOfText = wanted === name && !query.isPlaceholderData
  const bots = isOfText
    ? found
    : found.filter((bot) => bot.name.toLowerCase().includes(wanted.toLowerCase()))
  return { query, bots }
}
