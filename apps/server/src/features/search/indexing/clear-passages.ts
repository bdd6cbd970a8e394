import { decodeJson } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { ClearPassages, FilesIndexing } from '../../files/index.js'
import type { KeywordIndex } from '../keywords/index.js'
import * as store from '../passage-store.js'
import { deleteWords, holdWords } from '../vocabulary-store.js'
import { type IngestPool, listPassageWords } from './ingest.js'

/** Passages per read: few enough to keep transactions short. */
const readAtOnce = 100
/** Words per transaction: few enough to keep transactions short. */
const wordsAtOnce = 100

export interface ClearPassagesDeps {
  db: Db
  run: Run
  index: KeywordIndex
  ingestPool: IngestPool
  indexing: Pick<FilesIndexing, 'usefulPassages'>
}

/** Removes passages of a file that are no longer found, and the words that occurred only there. */
export function createClearPassages(deps: ClearPassagesDeps): JobHandler<ClearPassages> {
  const { db, run, index, ingestPool, indexing } = deps

  async function readWords(
    { botId, fileId, key = '' }: ClearPassages,
    useful: Useful,
    signal: AbortSignal,
  ): Promise<string[]> {
    const words = new Set<string>()
    for (let after = -1; ; ) {
      const page = { after, limit: readAtOnce }
      const rows = await store.listUseless(db, botId, fileId, useful, page)
      const last = rows.at(-1)
      if (last === undefined) return [...words].sort()
      after = last.number
      const texts = rows.map(({ content, headings, own_headings }) => ({
        content,
        headings: decodeJson<string[]>(headings),
        ownHeadings: decodeJson<string[]>(own_headings),
      }))
      const listed = await listPassageWords(ingestPool, texts, { key, context: {} }, signal)
      for (const { word } of listed.flatMap((each) => each.words)) words.add(word)
    }
  }

  return {
    mayUseReserve: true,
    handler: async ({ payload }, { signal }) => {
      const { botId, fileId } = payload
      const useful = await indexing.usefulPassages(botId, fileId)
      const words = await readWords(payload, useful, signal)
      await purge(
        run,
        (tx, limit) => store.deleteUseless(tx, botId, fileId, useful, limit),
        store.passagesDeletedAtOnce,
      )
      for (let start = 0; start < words.length; start += wordsAtOnce) {
        const some = words.slice(start, start + wordsAtOnce)
        await run(
          async (tx) => {
            await holdWords(tx, botId)
            await deleteWords(tx, botId, await index.missing(tx, botId, some))
          },
          { mayUseReserve: true },
        )
      }
    },
  }
}

type Useful = store.UsefulPassages | undefined
