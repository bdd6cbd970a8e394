import { purge } from '../../platform/db/purge.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { ClearPassages, FilesIndexing } from '../files/index.js'
import type { SearchDeps } from './service.js'
import * as store from './store.js'
import { toIndexText } from './text/index-text.js'
import { toWords } from './text/words.js'
import { deleteWords, holdWords } from './vocabulary-store.js'

/** Passages that are read at a time. */
const readAtOnce = 200
/** Words that are looked up in one transaction: few enough that nobody waits long for the database. */
const wordsAtOnce = 100

export type ClearPassagesDeps = Pick<SearchDeps, 'db' | 'run' | 'index'> & {
  indexing: Pick<FilesIndexing, 'usefulPassages'>
}

/** Removes passages of a file that nobody finds any more, and the words that stood only there. */
export function createClearPassages(deps: ClearPassagesDeps): JobHandler<ClearPassages> {
  const { db, run, index, indexing } = deps

  async function readWords({ botId, fileId }: ClearPassages, useful: Useful): Promise<string[]> {
    const words = new Set<string>()
    for (let after = -1; ; ) {
      const page = { after, limit: readAtOnce }
      const rows = await store.listUseless(db, botId, fileId, useful, page)
      const last = rows.at(-1)
      if (last === undefined) return [...words].sort()
      after = last.number
      const texts = rows.map(({ content, headings }) => toIndexText(`${headings} ${content}`))
      for (const { word } of toWords(texts)) words.add(word)
    }
  }

  return {
    handler: async ({ payload }) => {
      const { botId, fileId } = payload
      const useful = await indexing.usefulPassages(botId, fileId)
      const words = await readWords(payload, useful)
      await purge(run, (tx, limit) => store.deleteUseless(tx, botId, fileId, useful, limit))
      for (let start = 0; start < words.length; start += wordsAtOnce) {
        const some = words.slice(start, start + wordsAtOnce)
        await run(async (tx) => {
          await holdWords(tx, botId)
          await deleteWords(tx, botId, await index.missing(tx, botId, some))
        })
      }
    },
  }
}

type Useful = store.UsefulPassages | undefined
