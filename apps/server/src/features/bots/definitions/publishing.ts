import { ApiError } from '@botstead/contract'
import { fieldError } from '../../../domain/refusals.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'

export interface PublishingDeps {
  dialect: Pick<Dialect, 'holdName'>
  workspaces: Pick<WorkspacesService, 'handleOf'>
}

/** The part that integrations, interfaces and plugins have in common. */
interface Definition {
  name: string
  workspace_id: string
}

/** The differences between these kinds. */
interface PublishedKind<Row extends Definition> {
  kind: 'integration' | 'interface' | 'plugin'
  /** Whether other workspaces can use it. */
  isPublished: (row: Row) => boolean
  /** Whether another workspace, or the server, has published one of its name. */
  isTaken: (tx: Tx, row: Row) => Promise<boolean>
}

/** Makes the rules about names, and about who may publish under them. */
export function createPublishing<Row extends Definition>(
  { dialect, workspaces }: PublishingDeps,
  { kind, isPublished, isTaken }: PublishedKind<Row>,
) {
  /** Throws for a name that begins with the handle of another workspace. */
  async function requireOwn(executor: Db | Tx, { name, workspace_id }: Definition): Promise<void> {
    // Most names have no handle and need no read.
    if (!name.includes('/')) return
    requireOwnHandle(name, await workspaces.handleOf(executor, workspace_id))
  }

  /**
   * Throws `AlreadyExists` unless a workspace may publish under a name. It belongs to the workspace that used it
   * first: otherwise a stranger's higher version would be what others get by name.
   */
  async function requirePublic(tx: Tx, row: Row): Promise<void> {
    // The handle may be that of another workspace by now.
    await requireOwn(tx, row)
    await dialect.holdName(tx, `published ${kind} ${row.name}`)
    if (!(await isTaken(tx, row))) return
    throw new ApiError(
      'AlreadyExists',
      `body.visibility: another workspace has published the ${kind} ${row.name}: give yours a name that begins with the handle of your workspace, or keep it private.`,
      { metadata: { in: 'body', field: 'visibility' } },
    )
  }

  return {
    requireOwn,

    /** Throws unless a new one may have its name and its visibility. */
    async requireNew(tx: Tx, row: Row): Promise<void> {
      await requireOwn(tx, row)
      if (isPublished(row)) await requirePublic(tx, row)
    },

    /**
     * Throws if a change of the visibility takes a name of others.
     * @param requireUnused throws if it takes something from others that they use
     */
    async requireVisibility(
      tx: Tx,
      current: Row,
      next: Row,
      requireUnused: () => Promise<void>,
    ): Promise<void> {
      if (isPublished(next) === isPublished(current)) return
      await (isPublished(next) ? requirePublic(tx, next) : requireUnused())
    },
  }
}

/**
 * Throws `Forbidden` for a name that begins with the handle of another workspace.
 * @param own handle of the workspace; null if it has none
 */
function requireOwnHandle(name: string, own: string | null): void {
  const end = name.indexOf('/')
  if (end < 0 || name.slice(0, end) === own) return
  const advice =
    own === null
      ? 'has no handle: give it one with PUT /v1/admin/workspaces/{id}'
      : `has the handle ${own}`
  throw fieldError(
    'body.name',
    `must not begin with ${name.slice(0, end + 1)}, because this workspace ${advice}.`,
    'Forbidden',
  )
}
