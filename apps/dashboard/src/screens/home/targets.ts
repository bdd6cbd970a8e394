import type { Usage } from '../../api/usage.js'
import type { ItemLink } from '../../ui/data-table.js'
import type { ErrorGroup, Reason } from './queries.js'

type PathTo = (...segments: string[]) => string

/** The link of a reason of a bot. */
export function linkOfReason({ kind, target }: Reason, workspaceId: string): ItemLink {
  const { id, botId = id } = target
  const pathOf = (...segments: string[]) => `/${workspaceId}/${botId}/${segments.join('/')}`
  if (kind === 'deliveries_failed') {
    return { to: pathOf('deliveries'), search: { status: 'failed', range: '24h' } }
  }
  if (kind === 'log_errors') {
    return { to: pathOf('logs'), search: { level: 'error', range: '24h' } }
  }
  if (kind === 'receiver_paused' || kind === 'receiver_failing') return { to: pathOf('deliveries') }
  if (kind === 'files_failed') return { to: pathOf('files'), search: { status: 'failed' } }
  return { to: pathOf('bots', botId), search: kind === 'no_address' ? { tab: 'settings' } : {} }
}

/** The page with the usage of the workspace, or of a bot. */
export function linkOfUsage({ id }: Usage, pathTo: PathTo, workspaceId: string): ItemLink {
  const path = id === workspaceId ? pathTo('workspace') : pathTo('bots', id)
  return { to: path, search: { tab: 'usage' } }
}

/** The link of a group of errors: to all of them if they can be listed, or else to the newest one. */
export function linkOfErrors(group: ErrorGroup, pathTo: PathTo, workspaceId: string): ItemLink {
  const { kind, target, pattern, botId } = group
  const pathOf = (...segments: string[]) =>
    botId === undefined ? pathTo(...segments) : `/${workspaceId}/${botId}/${segments.join('/')}`
  if (kind === 'log') {
    const text = longestPart(pattern)
    return { to: pathOf('logs'), search: { level: 'error', range: '24h', text } }
  }
  if (kind === 'delivery') {
    return { to: pathOf('deliveries', target.id), search: { status: 'failed', range: '24h' } }
  }
  return { to: pathOf(kind === 'file' ? 'files' : 'jobs', target.id) }
}

/** The longest text that all messages of a group contain: they differ in their numbers only. */
function longestPart(pattern: string): string {
  const [longest = ''] = pattern.split('#').toSorted((a, b) => b.length - a.length)
  return longest.trim().slice(0, 200)
}
