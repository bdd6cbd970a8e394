import type { Ground } from '../platform/authorities.js'
import type { WorkspaceActor } from './actor.js'

/** The authority of callers who were admitted, for what stays open. */
export interface Standing {
  /** The grounds of the authority of a caller. */
  groundsOf(actor: WorkspaceActor): Ground[]
  /**
   * Until when each caller may read its workspace, as far as is known now: milliseconds of the clock, 0 for a caller that
   * may no longer.
   */
  untilOf(actors: readonly WorkspaceActor[]): Promise<number[]>
}
