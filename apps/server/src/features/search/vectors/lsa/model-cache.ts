import { LRUCache } from 'lru-cache'
import type { Db } from '../../../../platform/db/schema.js'
import { findModel } from '../space-store.js'

import { decodeModel, type LsaModel } from './model.js'

/** Memory for the models of one process or thread. */
const maximumBytes = 64 * 1024 * 1024
/** Bytes of a term in a map, besides its direction. */
const bytesPerTerm = 100

export interface ModelCache {
  /** The model of a space; undefined if the space was deleted. A model never changes. */
  get(db: Db, space: number): Promise<LsaModel | undefined>
}

export function createModelCache(): ModelCache {
  const models = new LRUCache<number, LsaModel>({
    maxSize: maximumBytes,
    sizeCalculation: ({ rows, directions }) => 1 + directions.byteLength + rows.size * bytesPerTerm,
  })
  return {
    async get(db, space) {
      const known = models.get(space)
      if (known !== undefined) return known
      const encoded = await findModel(db, space)
      if (encoded === undefined) return undefined
      const model = decodeModel(encoded)
      models.set(space, model)
      return model
    },
  }
}
