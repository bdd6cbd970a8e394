import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { VectorIndex } from '../vectors/vector-index.js'

/** What ranking needs besides questions. */
export interface RankingBackground {
  /** To be told of passages that are written. */
  vectors: VectorIndex
  /** What the job runner does, by kind. */
  jobs: Record<string, JobHandler>
  /** Deletes what is kept for a bot that is gone; its passages take their vectors along. */
  purge(botId: string): Promise<void>
}

export function createRankingBackground(): RankingBackground {
  return {
    vectors: { add: async () => {} },
    jobs: {},
    purge: async () => {},
  }
}
