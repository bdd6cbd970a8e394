import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Client } from '@botstead/contract'
import { isConnectionFailure } from '../connection.js'
import { notices } from '../terminal.js'

export type RemoteFile = Awaited<ReturnType<Client['getFile']>>['file']
export type RemoteReport = Awaited<ReturnType<Client['getFileIndexingReport']>>['report']

const pageSize = 100

/** All files of the bot whose key begins with a prefix, in the order of their keys. */
export async function* listFiles(
  client: Client,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<RemoteFile> {
  let nextToken: string | undefined
  do {
    const page = await withRetries(signal, () =>
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

/**
 * A file by key or id, as it is now; undefined if there is none.
 *
 * @param onMissing receives the reason of the server if there is none
 */
export async function findFile(
  client: Client,
  id: string,
  signal: AbortSignal,
  onMissing?: (reason: string) => void,
): Promise<RemoteFile | undefined> {
  try {
    return (await client.getFile({ id }, { signal })).file
  } catch (error) {
    if (!(error instanceof ApiError && error.type === 'ResourceNotFound')) throw error
    onMissing?.(error.message)
    return undefined
  }
}

/** Keys that do not find their file: ids, parts of paths that are no files, and those that an address loses. */
export const reservedKey = /^(?:file_.*|search|tags|knowledge-bases|events|\.{0,2})$/

/** The file that an upload with a key replaces; undefined if there is none. Integrations have keys of their own. */
export async function findReplaced(
  client: Client,
  key: string,
  signal: AbortSignal,
): Promise<RemoteFile | undefined> {
  if (!reservedKey.test(key)) {
    const file = await findFile(client, key, signal)
    return file?.owner.type === 'integration' ? undefined : file
  }
  for await (const file of listFiles(client, key, signal)) {
    if (file.key === key && file.owner.type !== 'integration') return file
  }
  return undefined
}

const attempts = 6
const firstPause = 500

/** Retries, with growing pauses, what fails because a server is busy, restarting or unreachable. */
export async function withRetries<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (tried >= attempts || !isTransient(error) || signal.aborted) throw error
      await sleep(firstPause * 2 ** (tried - 1), undefined, { signal })
    }
  }
}

function isTransient(error: unknown): boolean {
  if (isConnectionFailure(error)) return true
  return error instanceof ApiError && (error.type === 'RateLimited' || error.type === 'Internal')
}

/** The exit status that shells expect of a command that was interrupted. */
const interrupted = 130

/** Stops the work in an orderly way at the first Ctrl-C; a second one ends the process at once. */
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
    notices.text('\nInterrupted. Run the same command again to go on.\n')
    process.exitCode = interrupted
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
