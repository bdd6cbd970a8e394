import type { Usage } from '../../api/usage.js'
import type { ItemLink } from '../../ui/data-table.js'
import { formatBytes, formatNumber } from '../../ui/numbers.js'
import { kindOf } from '../../ui/usage/kinds.js'
import { completionOf } from '../../ui/usage/quotas.js'
import type { Degraded, Overview, Reason } from './queries.js'
import { linkOfReason, linkOfUsage } from './targets.js'

/** Something that is wrong. */
interface Trouble {
  message: string
  action: string
  since?: string | undefined
  link?: ItemLink
}

/** Reasons of bots, the worst first: what stops answers stands before what failed once. */
const order: readonly Reason['kind'][] = [
  'receiver_paused',
  'receiver_failing',
  'no_address',
  'registration_failed',
  'deliveries_failed',
  'files_failed',
  'log_errors',
  'blocked',
]

/** Everything that is wrong, the worst first. */
export function troublesOf(
  overview: Overview,
  degraded: readonly Degraded[],
  usages: readonly Usage[],
  workspaceId: string,
  describeOwner: (usage: Usage) => string,
  pathTo: (...segments: string[]) => string,
): Trouble[] {
  const troubles: Trouble[] = (overview.operator?.disks ?? [])
    .filter(({ isLow }) => isLow)
    .map(({ of, freeBytes }) => ({
      message: `The disk of the ${of} has only ${formatBytes(freeBytes)} left.`,
      action: 'Free some space, or give the server a larger disk: without space it stops writing.',
    }))
  for (const usage of usages) {
    const { label, whenFull } = kindOf(usage.type)
    if (whenFull === undefined || completionOf(usage)?.level !== 'full') continue
    troubles.push({
      message: `The quota of ${describeOwner(usage)} is used up: ${label.toLowerCase()}.`,
      action: whenFull,
      link: linkOfUsage(usage, pathTo, workspaceId),
    })
  }
  const reasons = overview.bots
    .filter(({ status }) => status === 'attention')
    .flatMap(({ id, name, reasons }) => reasons.map((reason) => ({ ...reason, bot: name || id })))
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
  for (const reason of reasons) {
    const { bot, message, action, since } = reason
    const link = linkOfReason(reason, workspaceId)
    troubles.push({ message: `${bot}: ${message}`, action, since, link })
  }
  for (const { name, detail = '' } of degraded) {
    troubles.push({
      message: `The server works with less than it could: ${name}.`,
      action: detail,
      link: { to: pathTo('workspace'), search: { tab: 'server' } },
    })
  }
  const deadJobs = overview.operator?.deadJobs ?? 0
  if (deadJobs > 0) {
    troubles.push({
      message: `${formatNumber(deadJobs)} ${deadJobs === 1 ? 'job was' : 'jobs were'} given up.`,
      action: 'Look at the reason of each, then run it again or drop it.',
      link: { to: pathTo('jobs'), search: { state: 'dead' } },
    })
  }
  return troubles
}
