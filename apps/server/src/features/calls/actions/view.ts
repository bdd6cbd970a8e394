import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import type { RunRow } from './store.js'

type WireRun = Output<typeof contract.actions.listRuns>['data'][number]

export function toRun(row: RunRow): WireRun {
  return {
    timestamp: row.created_at,
    integrationName: row.integration,
    actionType: row.action,
    input: decodeJson(row.input),
    ...(row.input_truncated === 1 && { inputTruncated: true }),
    output: row.output === null ? null : decodeJson(row.output),
    ...(row.output_truncated === 1 && { outputTruncated: true }),
    status: row.error === null ? 'SUCCESS' : 'FAILURE',
    durationMs: row.duration_ms,
    cached: row.cached === 1,
    ...(row.error !== null && { errorMessage: row.error }),
  }
}
