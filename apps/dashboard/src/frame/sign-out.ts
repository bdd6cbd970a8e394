import { call, queryClient } from '../api/queries.js'

/** Signs this browser out, and forgets what it has read. */
export async function signOut(): Promise<void> {
  await call({}, 'deleteSession', { id: 'current' })
  queryClient.clear()
  location.reload()
}
