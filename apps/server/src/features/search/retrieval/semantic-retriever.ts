import { toFoldedText } from '@botstead/documents/text'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import type { FileScope, TagCondition } from '../../files/lookup/index.js'
import {
  createModelCache,
  createVectorIndex,
  findServing,
  hasWaiting,
  lsaEmbedder,
  type Neighbour,
  type SpaceRow,
  toLsaVector,
  type VectorIndex,
} from '../vectors/reading.js'

/** A question for the vectors. */
export interface SemanticRequest {
  /** The question as it was typed. */
  query: string
  /** The vector of the question from the embeddings endpoint; without one, LSA is used. */
  queryVector?: Float32Array
  /** The files to search. */
  scope: FileScope
  tags: readonly TagCondition[]
  /** Whether to compare the question with every vector, however many there are. */
  exact?: boolean
}

/** Similarity of meaning between a passage and a question, from 0, for chance, to 1. */
interface Likeness {
  number: number
  likeness: number
}

/** A question as a point among the passages of a bot. */
export interface SemanticQuestion {
  /** Passages with the most similar meaning, nearest first. */
  nearest: Likeness[]
  /** Reliability of the similarities, from 0 to 1. */
  confidence: number
  /** Whether its model was learned from the passages of the bot alone. */
  isLearned: boolean
  /** The similarities of other passages. */
  likenesses(numbers: readonly number[]): Promise<Likeness[]>
}

/** Finds and compares passages by meaning. */
export interface SemanticRetriever {
  /** Compares the question with passages, or returns the reason why not; neither if its meaning is unknown. */
  search(
    db: Db,
    request: SemanticRequest,
    limit: number,
  ): Promise<{ question?: SemanticQuestion; degraded?: string }>
}

interface QuestionVector {
  vector: Float32Array
  confidence: number
  isLearned: boolean
  toLikeness: (nearest: readonly Neighbour[]) => (similarity: number) => number
}

/** The share of a question's weight that a model must know for its similarities to count in full. */
const fullyKnown = 0.5

/** Makes the retriever of one process or thread, with its own cache of models. */
export function createSemanticRetriever(dialect: Dialect): SemanticRetriever {
  const index = createVectorIndex(dialect)
  const models = createModelCache()
  let missing: Promise<string | undefined> | undefined

  /** Asks once; after a failure to ask, the next search tries again. */
  function findMissing(db: Db): Promise<string | undefined> {
    missing ??= index.missing(db).catch((error: unknown) => {
      missing = undefined
      throw error
    })
    return missing
  }

  async function locate(
    db: Db,
    space: SpaceRow,
    request: SemanticRequest,
  ): Promise<QuestionVector | undefined> {
    if (space.embedder !== lsaEmbedder) {
      const vector = request.queryVector
      return vector?.length === space.dimensions
        ? { vector, confidence: 1, isLearned: false, toLikeness: aboveOthers }
        : undefined
    }
    const model = await models.get(db, space.number)
    if (model === undefined) return undefined
    const { values, known } = toLsaVector(model, toFoldedText(request.query))
    const confidence = Math.min(1, known / fullyKnown)
    return { vector: values, confidence, isLearned: true, toLikeness: () => sharpened }
  }

  return {
    async search(db, request, limit) {
      if ((await findMissing(db)) !== undefined) return { degraded: 'semantic-unavailable' }
      const space = await findServing(db, request.scope.botId)
      if (space === undefined) {
        const isComing = await hasWaiting(db, request.scope.botId)
        return isComing ? { degraded: 'semantic-pending' } : {}
      }
      const located = await locate(db, space, request)
      if (located === undefined) return { degraded: 'embeddings-unavailable' }
      if (located.confidence === 0) return {}
      return { question: await searchSpace(index, db, space, located, request, limit) }
    },
  }
}

async function searchSpace(
  index: VectorIndex,
  db: Db,
  space: SpaceRow,
  { vector, confidence, isLearned, toLikeness }: QuestionVector,
  { scope, tags, exact = false }: SemanticRequest,
  limit: number,
): Promise<SemanticQuestion> {
  const nearest = await index.nearest(db, { space, vector, scope, tags, limit, exact })
  const likenessOf = toLikeness(nearest)
  const judge = ({ number, similarity }: Neighbour) => ({
    number,
    likeness: likenessOf(similarity),
  })
  return {
    nearest: nearest.map(judge),
    confidence,
    isLearned,
    likenesses: async (numbers) =>
      (await index.similarities(db, space, vector, numbers)).map(judge),
  }
}

/** In a fitted space a small similarity is mostly chance: squared, it counts for little. */
function sharpened(similarity: number): number {
  return between0And1(similarity) ** 2
}

/** So many neighbours that the last of them is near by chance. */
const manyNeighbours = 20

/**
 * Models differ in how similar they rate unrelated texts; .8 is common.
 * The relevant measure is how far a passage stands out from the last of many neighbours.
 */
function aboveOthers(nearest: readonly Neighbour[]): (similarity: number) => number {
  const last = nearest.at(-1)?.similarity ?? 0
  const chance = nearest.length < manyNeighbours ? 0 : Math.min(0.99, Math.max(0, last))
  return (similarity) => between0And1((similarity - chance) / (1 - chance))
}

/** Rounding can make cosines of equal vectors exceed 1. */
function between0And1(value: number): number {
  return Math.min(1, Math.max(0, value))
}
