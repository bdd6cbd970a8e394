import type { Tx } from '../../../platform/db/schema.js'

/** The vectors of passages. They come in the background and go with their passages. */
export interface VectorIndex {
  /**
   * Says that passages were written, in the transaction that writes them: a job gives them their
   * vectors soon after it commits.
   *
   * @param numbers of the rows of the passages
   */
  add(tx: Tx, botId: string, numbers: readonly number[]): Promise<void>
}
