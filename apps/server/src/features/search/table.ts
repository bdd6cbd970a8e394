import type { Generated } from 'kysely'
import type { JsonColumn } from '../../platform/db/columns.js'
import type { PassageKind } from './chunk/passage.js'

/** One row per passage. Which generation of a file is found is said by the file. */
export interface PassagesTable {
  /** The keyword index knows the passage by this number. */
  number: Generated<number>
  /** UUID. */
  id: string
  bot_id: string
  file_id: string
  generation: number
  /** Place in the file, from 0. */
  position: number
  subtype: PassageKind
  page_number: number | null
  /** Markdown. */
  content: string
  /** JSON list of the headings above the passage, the title first. */
  headings: JsonColumn
  /** JSON list of the headings that the passage begins with. */
  own_headings: JsonColumn
  /** Where the passage begins and ends in the normalized text of the file, in UTF-16 units. */
  start_offset: number
  end_offset: number
}

/** A word that some passage of a bot has, or had. */
interface BotWordsTable {
  bot_id: string
  word: string
  /** The word backwards. */
  reversed: string
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    passages: PassagesTable
    bot_words: BotWordsTable
  }
}
