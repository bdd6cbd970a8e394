import { ApiError } from '@botstead/contract'

export function unknownToken(): ApiError {
  return new ApiError('Unauthorized', 'The token in Authorization is not valid, or was revoked.')
}

export function endedSession(): ApiError {
  return new ApiError('Unauthorized', 'The session has ended: sign in again.')
}

/** The same error for an integration of another workspace and for one that does not exist. */
export function foreignIntegration(): ApiError {
  return new ApiError(
    'Forbidden',
    'The header x-integration-id, if sent, must name an integration that is installed in the bot, and x-integration-alias its alias there.',
  )
}

export function keyOfBot(): ApiError {
  return new ApiError(
    'Forbidden',
    'The token in Authorization is the key of a bot: it may not act as the integration that x-integration-id or x-integration-alias names. An integration calls with its own key.',
  )
}
