import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Client } from '@botstead/contract'
import { isConnectionFailure } from '../server-access.js'

export type RemoteFile = Awaited<ReturnType<Client['getFile']>>['file']

const pageSize = 100

/** All files of the bot whose key begins with a prefix, in the order of their keys. */
export async function* listFiles(
  client: Client,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<RemoteFile> {
  let nextToken: string | undefined
  do {
    const page = await patiently(signal, () =>
      client.listFiles(
        {
          sortField: 'key',
          sortDirection: 'asc',
          pageSize,
          ...(nextToken !== undefined && { nextToken }),
        },
        { signal },
      ),
    )
    for (const file of page.files) if (file.key.startsWith(prefix)) yield file
    nextToken = page.meta.nextToken
  } while (nextToken !== undefined)
}

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

/** What a shell expects of a command that Ctrl-C has ended. */
const interrupted = 130

/** Ends the work in order at the first Ctrl-C; a second one ends the process at once. */
export async function interruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(interrupted)
    controller.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
    process.stderr.write('\nInterrupted. Run the same command again to go on.\n')
    process.exitCode = interrupted
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
