import { ApiError } from '@botstead/contract'

/** The refusal of what would outlast the stop of the server, such as a new stream. */
export function serverIsStopping(): ApiError {
  return new ApiError('Internal', 'The server is stopping: try again in a moment.', {
    status: 503,
    metadata: { retryAfterSeconds: 5 },
  })
}
