import { call, queryClient } from '../api/queries.js'
import { rememberSignedIn } from './signed-in.js'

/** Signs this browser out, and forgets what it has read. */
export async function signOut(): Promise<void> {
  await call({}, 'deleteSession', { id: 'current' })
  queryClient.clear()
  rememberSignedIn(false)
  location.reload()
}
