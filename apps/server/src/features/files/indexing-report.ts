import type { contract, Output } from '@botstead/contract'
import { describeOmission, omissionTexts, type Reading } from '@botstead/documents'
import { countOmissions } from './contents/index.js'
import type { FileRow } from './table.js'

type WireReport = Output<typeof contract.indexingReports.get>['report']

/**
 * Whether everybody who sees a file may see its last reading. Integrations must not see the reading of a content that
 * was not shared with them because a later one is.
 */
export function showsReading(row: FileRow): boolean {
  const isLatest = row.status === 'indexing_completed' || row.status === 'indexing_failed'
  return isLatest || row.shared === 0 || row.passages_shared === 1
}

export function toIndexingReport(row: FileRow, reading: Reading | undefined): WireReport {
  const { omissions = [], parts } = reading ?? {}
  const count = reading === undefined ? 0 : countOmissions(reading)
  const isFailed = row.status === 'upload_failed' || row.status === 'indexing_failed'
  return {
    fileId: row.id,
    status: row.status,
    ...(isFailed && row.failed_reason !== null && { failedStatusReason: row.failed_reason }),
    outcome: outcomeOf(row, reading === undefined ? undefined : count),
    count,
    omissions: omissions.map((omission) => {
      const { kind, places, detail } = omission
      const { why, advice } = omissionTexts[kind]
      const summary = describeOmission(omission)
      const rest = { places: [...places], ...(detail !== undefined && { detail }) }
      return { kind, count: omission.count, summary, why, advice, ...rest }
    }),
    ...(parts && { parts }),
  }
}

/** @param count of what was not read; undefined if it is unknown */
function outcomeOf({ status }: FileRow, count: number | undefined): WireReport['outcome'] {
  if (count === undefined) return status === 'indexing_failed' ? 'not_read' : 'unknown'
  return count === 0 ? 'all_read' : 'partly_read'
}
