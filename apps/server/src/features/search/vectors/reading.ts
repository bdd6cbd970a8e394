/**
 * The second door of vectors, for search threads: reads vectors and models. Through `index.ts` a
 * thread would load the client of endpoints and the jobs, which it never needs.
 */
import type { Dialect } from '../../../platform/db/dialect.js'
import { postgresVectors } from './postgres-vectors.js'
import { createSqliteVectors } from './sqlite-vectors.js'
import type { VectorIndex } from './vector-index.js'

export { createModelCache, lsaEmbedder, toLsaVector } from './lsa/model.js'
export { findServing, hasWaiting, type SpaceRow } from './space-store.js'
export type { Neighbour, VectorIndex } from './vector-index.js'

/** The vectors of a database engine. */
export function createVectorIndex(dialect: Dialect): VectorIndex {
  return dialect.choose({ sqlite: createSqliteVectors, postgres: () => postgresVectors })()
}
