import { decodeJson } from '../db/columns.js'
import { UnreadableJobError } from './errors.js'

/** The payload of a job, or why there is none: a row that this program has not written may have any text. */
export function readPayload(text: string): { payload?: unknown; fault?: UnreadableJobError } {
  try {
    return { payload: decodeJson<unknown>(text) }
  } catch (cause) {
    return { fault: new UnreadableJobError('The payload of the job is not JSON.', { cause }) }
  }
}
