import type { Embedder } from './embedder.js'

/** Growth or loss after which what was fitted to the passages of a bot is fitted anew. */
const muchMore = 1.5
const muchLess = 0.5

/** What there is to do for the vectors of a bot. */
export type VectorPlan =
  /** Nothing: the bot has too few passages for vectors to mean something. */
  | 'none'
  /** Make a new space of all passages; searches use the old one until it is whole. */
  | 'build'
  /** Give vectors to the passages that have none. */
  | 'fill'

/**
 * @param passages how many the bot has now
 * @param serving what searches use, if anything
 */
export function planVectors(
  embedder: Pick<Embedder, 'id' | 'fewestPassages' | 'isFitted'>,
  passages: number,
  serving: { embedder: string; passages: number } | undefined,
): VectorPlan {
  if (serving?.embedder === embedder.id) {
    if (!embedder.isFitted || passages < embedder.fewestPassages) return 'fill'
    const growth = passages / Math.max(1, serving.passages)
    return growth >= muchMore || growth <= muchLess ? 'build' : 'fill'
  }
  if (passages >= embedder.fewestPassages) return 'build'
  return 'none'
}
