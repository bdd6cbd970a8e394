import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import type { Scope } from './client.js'

/** The part of an address that stands for every bot. */
export const everyBot = 'all'

/** Filters, tabs and positions of an address: always texts, as they stand in it. */
export type Search = Record<string, string | undefined>

/** Reads the query of an address as texts; the last of equal names counts. */
export function parseSearch(query: string): Search {
  return Object.fromEntries(new URLSearchParams(query))
}

/** Writes a query without names that have no value. */
export function stringifySearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** The workspace and bot of the address, as a scope of calls; `botId` is undefined for every bot. */
export function useScope(): Scope & { workspaceId: string; botId: string | undefined } {
  const { workspace = '', bot = everyBot }: Record<string, string | undefined> = useParams({
    strict: false,
  })
  return { workspaceId: workspace, botId: bot === everyBot ? undefined : bot }
}

/** Path of a screen for the workspace and bot of the address: `pathTo('files', fileId)`. */
export function usePathTo(): (...segments: string[]) => string {
  const { workspace = '', bot = everyBot }: Record<string, string | undefined> = useParams({
    strict: false,
  })
  return (...segments) =>
    `/${[workspace, bot, ...segments].map((segment) => encodeURIComponent(segment)).join('/')}`
}

/**
 * The query of the address, and a function that changes some of it; undefined removes a name. It resolves when the
 * page shows the change, or that of a later navigation that replaced it. While the page goes to another screen, nothing is
 * changed: the query would become that of the other one.
 */
export function useAddressSearch(): [
  Search,
  (changes: Search, options?: { replace: boolean }) => Promise<void>,
] {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const router = useRouter()
  return [
    search,
    async (changes, { replace } = { replace: false }) => {
      const shown = router.state.resolvedLocation?.pathname
      if (shown !== undefined && shown !== router.latestLocation.pathname) return
      await navigate({ to: '.', search: (before: Search) => ({ ...before, ...changes }), replace })
    },
  ]
}
