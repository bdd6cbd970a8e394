import { ApiError, type Client } from '@botstead/contract'
import { Command } from 'commander'
import { addConnectionOptions, type ConnectionOptions, connect } from './connection.js'
import { describeOmissions } from './files/output.js'
import { inParallel } from './parallel.js'
import { notices, out } from './terminal.js'

/** Files that are indexed at a time. */
const concurrency = 8

interface ReindexOptions extends ConnectionOptions {
  all: boolean
  failed: boolean
  wait: boolean
  allowPartial: boolean
}

type File = Awaited<ReturnType<Client['getFile']>>['file']

/** `botstead reindex`: makes passages again, for example after a release that reads files better. */
export function reindexCommand(): Command {
  const command = new Command('reindex')
    .description('Index files again, from the content that is there.')
    .argument('[file...]', 'keys or ids of files')
    .option('--failed', 'all files whose indexing failed', false)
    .option('--all', 'all files that are to be indexed', false)
    .option('--no-wait', 'do not wait until they are indexed')
    .option(
      '--allow-partial',
      'from now on, even if more than half of a file cannot be read',
      false,
    )
  return addConnectionOptions(command).action(async (keys: string[], options: ReindexOptions) => {
    if ([keys.length > 0, options.failed, options.all].filter(Boolean).length !== 1) {
      throw new Error('Name files, or give one of --failed and --all.')
    }
    const { client } = await connect(options)
    const ids = keys.length > 0 ? keys : await findFiles(client, options)
    let failed = 0
    await inParallel(ids, concurrency, new AbortController().signal, async (id) => {
      if (!(await reindex(client, id, options))) failed += 1
    })
    notices.line(`${ids.length - failed} of ${ids.length} files were indexed again.`)
    if (failed > 0) process.exitCode = 1
  })
}

async function findFiles(client: Client, { failed }: ReindexOptions): Promise<string[]> {
  const ids: string[] = []
  let nextToken: string | undefined
  do {
    const page = await client.listFiles({
      indexed: true,
      pageSize: 100,
      ...(nextToken !== undefined && { nextToken }),
    })
    const wanted = page.files.filter(({ status }) =>
      failed ? status === 'indexing_failed' : status.startsWith('indexing_'),
    )
    ids.push(...wanted.map(({ id }) => id))
    nextToken = page.meta.nextToken
  } while (nextToken !== undefined)
  return ids
}

/** Indexes one file; a failure is reported and does not stop the others. */
async function reindex(
  client: Client,
  id: string,
  { wait, allowPartial }: ReindexOptions,
): Promise<boolean> {
  try {
    const indexing = { configuration: { parsing: { allowPartial } } }
    let { file } = await client.reindexFile({ id, ...(allowPartial && { indexing }) })
    while (wait && file.status === 'indexing_pending') {
      file = (await client.getFile({ id: file.id, waitFor: 'indexing_completed' })).file
    }
    out.line(describe(file))
    return file.status !== 'indexing_failed'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    out.line(`${id}: ${error.message}`)
    return false
  }
}

function describe(file: File): string {
  const { key, status, failedStatusReason } = file
  if (failedStatusReason !== undefined) return `${key}: ${failedStatusReason}`
  const leftOut = describeOmissions(file)
  return leftOut === undefined ? `${key}: ${status}` : `${key}: ${status}, ${leftOut}`
}
