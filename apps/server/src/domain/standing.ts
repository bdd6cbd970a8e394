import type { Ground } from '../platform/authorities.js'
import type { WorkspaceActor } from './actor.js'

/** The authority of callers who were admitted, for what stays open. */
export interface Standing {
  /** The grounds of the authority of a caller. */
  groundsOf(actor: WorkspaceActor): Ground[]
  /**
   * The end of the access of each caller, as far as is known now: milliseconds of the clock, 0 if it has ended.
   */
  untilOf(actors: readonly WorkspaceActor[]): Promise<number[]>
}
