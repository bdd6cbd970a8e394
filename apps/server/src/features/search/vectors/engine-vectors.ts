import type { Dialect } from '../../../platform/db/dialect.js'
import { postgresVectors } from './postgres-vectors.js'
import { createSqliteVectors } from './sqlite-vectors.js'
import type { VectorStore } from './vector-store.js'

/** The vectors of an engine. */
export function vectorStoreOf(dialect: Dialect): VectorStore {
  return dialect.choose({ sqlite: createSqliteVectors, postgres: () => postgresVectors })()
}
