import { ApiError } from '@botstead/contract'

/** The workspace of something in the hub, as everybody may see it. */
interface Publisher {
  id: string
  handle: string | null
  name: string
}

/** Reads workspaces as publishers, by id. */
export type FindPublishers = (ids: readonly string[]) => Promise<ReadonlyMap<string, Publisher>>

/** Adds its publisher to each entry of the hub; leaves out entries that were deleted with their workspace meanwhile. */
export async function withPublishers<Row extends { workspace_id: string }, View>(
  rows: readonly Row[],
  find: FindPublishers,
  view: (row: Row) => View,
): Promise<(View & { ownerWorkspace: Publisher })[]> {
  const publishers = await find(rows.map((row) => row.workspace_id))
  return rows.flatMap((row) => {
    const ownerWorkspace = publishers.get(row.workspace_id)
    return ownerWorkspace === undefined ? [] : [{ ...view(row), ownerWorkspace }]
  })
}

/** The same for one entry; throws `ResourceNotFound` if it was deleted. */
export async function withPublisher<Row extends { workspace_id: string; id: string }, View>(
  row: Row,
  find: FindPublishers,
  view: (row: Row) => View,
): Promise<View & { ownerWorkspace: Publisher }> {
  const [found] = await withPublishers([row], find, view)
  if (found !== undefined) return found
  throw new ApiError('ResourceNotFound', `${row.id} is no longer in the hub.`)
}
