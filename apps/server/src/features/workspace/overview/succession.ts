import type { WorkspaceLogLine } from '../../../domain/log-lines.js'
import { groupBy } from '../../../platform/group-by.js'
import type { InstallationStateRow } from '../../bots/installations/index.js'
import type { FailedDelivery } from '../../deliveries/index.js'

/** The key of the receiver of a delivery. */
export function receiverOf({
  bot_id,
  integration,
}: Pick<FailedDelivery, 'bot_id' | 'integration'>) {
  return `${bot_id}/${integration}`
}

/** The receivers whose deliveries show that the author of a line works again. */
export function receiversOfLine(
  { source, botId, integrationId }: WorkspaceLogLine,
  installations: readonly InstallationStateRow[],
): string[] {
  if (source !== 'integration') return [receiverOf({ bot_id: botId, integration: '' })]
  return installations
    .filter((row) => row.integration_id === integrationId)
    .map(({ bot_id, alias }) => receiverOf({ bot_id, integration: alias }))
}

/**
 * Divides errors into those of receivers that fail now, and past ones: a later attempt of the same receiver succeeded.
 * @param began when the last attempt that a receiver accepted began: errors during it are not past
 */
export function divide<Row extends { id: string }>(
  rows: readonly Row[],
  began: ReadonlyMap<string, string>,
  of: {
    receiversOf: (row: Row) => string[]
    timeOf: (row: Row) => string
    botOf: (row: Row) => string
  },
) {
  const newest = new Map<string, string>()
  const parts = rows.map((row) => {
    const receivers = of.receiversOf(row)
    const name = receivers.join(' ')
    const at = of.timeOf(row)
    if (at > (newest.get(name) ?? '')) newest.set(name, at)
    return { row, receivers, name }
  })
  const isPast = ({ receivers, name }: (typeof parts)[number]) =>
    receivers.some((receiver) => (began.get(receiver) ?? '') > (newest.get(name) ?? ''))
  const divided = groupBy(parts, (part) => `${of.botOf(part.row)} ${isPast(part) ? 'past' : 'now'}`)
  return {
    summaryOf: (botId: string, when: 'now' | 'past') =>
      summaryOf(
        divided.get(`${botId} ${when}`)?.map(({ row }) => row),
        of.timeOf,
      ),
  }
}

/** The number of rows, and the id of the newest one; undefined without any. */
export function summaryOf<Row extends { id: string }>(
  rows: readonly Row[] | undefined,
  timeOf: (row: Row) => string,
): { count: number; newestId: string } | undefined {
  const [first, ...rest] = rows ?? []
  if (first === undefined) return undefined
  const newest = rest.reduce((best, row) => (timeOf(row) > timeOf(best) ? row : best), first)
  return { count: rest.length + 1, newestId: newest.id }
}
