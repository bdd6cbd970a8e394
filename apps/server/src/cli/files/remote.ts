import type { Client } from '@botstead/contract'
import { patiently } from './patience.js'

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
