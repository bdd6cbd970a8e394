import { toIndexText, toNewWords } from '@botstead/documents/text'
import type { Run } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import * as store from '../passage-store.js'
import { insertWords } from '../vocabulary-store.js'

/** Asked for by the migration that made the list of words; its key is the id of the bot. */
export const listWordsJob = 'search.words'

interface ListWords {
  botId: string
}

/** Passages per transaction: few enough that nobody waits long for the database. */
const readAtOnce = 20

/** Lists the words of passages that were indexed before words were listed. */
export function createListWords({ run }: { run: Run }): JobHandler<ListWords> {
  return {
    handler: async ({ payload: { botId } }, { signal }) => {
      for (let after: number | undefined = -1; after !== undefined; ) {
        signal.throwIfAborted()
        const page = { after, limit: readAtOnce }
        after = await run(async (tx) => {
          const rows = await store.listTexts(tx, botId, page)
          const known = new Set<string>()
          const words = rows.flatMap(({ content, headings }) =>
            toNewWords(toIndexText(`${headings} ${content}`), known),
          )
          await insertWords(tx, botId, words)
          return rows.at(-1)?.number
        })
      }
    },
  }
}
