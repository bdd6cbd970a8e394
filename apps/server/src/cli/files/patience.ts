import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@botstead/contract'
import { isConnectionFailure } from '../server-access.js'

const attempts = 6
const firstPause = 500

/** Tries again, with growing pauses, what fails because a server is busy, restarting or out of reach. */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (tried >= attempts || !mayPass(error) || signal.aborted) throw error
      await sleep(firstPause * 2 ** (tried - 1), undefined, { signal })
    }
  }
}

function mayPass(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof ApiError && (error.type === 'RateLimited' || error.type === 'Internal')
}
