import { call, queryClient } from '../api/queries.js'
import { rememberSignedIn } from './signed-in.js'

/** Ends the session of this browser, and forgets what it has read. */
export async function endSession(): Promise<void> {
  await call({}, 'deleteSession', { id: 'current' })
  forgetSession()
}

/** Forgets what this browser has read in a session that has ended. */
export function forgetSession(): void {
  queryClient.clear()
  rememberSignedIn(false)
}

/** Signs this browser out, and shows the sign-in. */
export async function signOut(): Promise<void> {
  await endSession()
  location.reload()
}
