import type { Dialect } from '../../../platform/db/dialect.js'
import type { KeywordIndex } from './keyword-index.js'
import { postgresKeywords } from './postgres-keywords.js'
import { sqliteKeywords } from './sqlite-keywords.js'

export {
  bounded,
  type Frequencies,
  fairBm25,
  type KeywordHit,
  type KeywordIndex,
  type KeywordReader,
  withoutStar,
} from './keyword-index.js'

/** The keyword index of a database engine. */
export function createKeywordIndex(dialect: Dialect): KeywordIndex {
  return dialect.choose({ sqlite: sqliteKeywords, postgres: postgresKeywords })
}
