import { addNameTitle } from '@botstead/documents/text'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { listFileKeys } from '../../files/lookup/index.js'
import type { KeywordIndex } from '../keywords/index.js'
import { listUnchanged } from '../passage-text-store.js'
import { withoutMarks } from '../text/marks.js'
import { deleteWords, holdWords, insertWords } from '../vocabulary-store.js'
import * as store from './former-entries-store.js'
import type { PassageText, PassageWords } from './ingest-task.js'
import { type IngestPool, listPassageWords } from './pipeline.js'

/** Asked for by the migration that brought the names of files; its key is the id of the bot. */
export const replaceEntriesJob = 'search.names'

interface ReplaceEntries {
  botId: string
}

export interface ReplaceEntriesDeps {
  db: Db
  run: Run
  index: KeywordIndex
  ingestPool: IngestPool
}

const filesAtOnce = 100
/** Passages per transaction: few enough that nobody waits long for the database. */
const passagesAtOnce = 20
/** Words that are looked up in one transaction. */
const wordsAtOnce = 100
/** Words that are remembered to be removed; what is beyond stays in the list, where it does no harm. */
const mostFormerWords = 200_000

/** A passage as it is to be found from now on. */
interface Place extends PassageText {
  number: number
  id: string
  /** Whether the name of the file was put above it just now. */
  isNew: boolean
}

/**
 * Makes the entries of a bot anew that an earlier release made: with names of files, and with `ö` told from
 * `o`. Until then a passage is found by its former entry. Doing it again does no harm.
 */
export function createReplaceEntries(deps: ReplaceEntriesDeps): JobHandler<ReplaceEntries> {
  const { db, run, index, ingestPool } = deps

  async function readPlaces(file: { id: string; key: string }, generation: number) {
    const rows = await store.listPlaces(db, file.id, generation)
    const passages = rows.map((row) => ({
      ...row,
      content: '',
      headings: decodeJson<string[]>(row.headings),
      ownHeadings: decodeJson<string[]>(row.own_headings),
    }))
    // Nothing else stands above the beginning of a document.
    const isPlaced = (passages[0]?.headings.length ?? 0) > 0
    const placed = isPlaced ? passages : addNameTitle(passages, file.key)
    return placed.map(
      (passage, at): Place => ({
        ...passage,
        isNew: passage.headings.length !== passages[at]?.headings.length,
      }),
    )
  }

  async function write(botId: string, places: readonly Place[], words: readonly PassageWords[]) {
    await run(async (tx) => {
      const same = await listUnchanged(tx, places)
      const entries = places.flatMap(({ number }, at) => {
        const fields = words[at]?.fields
        return fields !== undefined && same.has(number) ? [{ number, fields }] : []
      })
      if (entries.length === 0) return
      await index.replace(tx, botId, entries)
      await insertWords(
        tx,
        botId,
        words.flatMap((each) => each.words),
      )
      for (const [headings, moved] of byHeadings(places)) {
        const numbers = moved.filter((number) => same.has(number))
        if (numbers.length > 0) await store.patchHeadings(tx, numbers, headings)
      }
    })
  }

  /** Words of which another spelling is listed now, once no passage has them. */
  async function dropWords(botId: string, former: ReadonlySet<string>, signal: AbortSignal) {
    const words = [...former].sort()
    for (let start = 0; start < words.length; start += wordsAtOnce) {
      signal.throwIfAborted()
      const some = words.slice(start, start + wordsAtOnce)
      await run(async (tx) => {
        await holdWords(tx, botId)
        await deleteWords(tx, botId, await index.missing(tx, botId, some))
      })
    }
  }

  return {
    handler: async ({ payload: { botId } }, { signal }) => {
      const former = new Set<string>()
      for (let after = ''; ; ) {
        const files = await listFileKeys(db, botId, { after, limit: filesAtOnce })
        const last = files.at(-1)
        if (last === undefined) break
        after = last.id
        for (const file of files) {
          for (const { generation, context } of await store.listGenerations(db, file.id)) {
            const places = await readPlaces(file, generation)
            for (let start = 0; start < places.length; start += passagesAtOnce) {
              signal.throwIfAborted()
              const some = places.slice(start, start + passagesAtOnce)
              const contents = await store.readContents(
                db,
                some.map(({ number }) => number),
              )
              const texts = some.map(({ number, headings, ownHeadings }) => ({
                content: contents.get(number) ?? '',
                headings,
                ownHeadings,
              }))
              const to = { key: file.key, context }
              const words = await listPassageWords(ingestPool, texts, to, signal)
              await write(botId, some, words)
              for (const word of words.flatMap((each) => each.fields.body.split(' '))) {
                const bare = withoutMarks(word)
                if (bare !== word && former.size < mostFormerWords) former.add(bare)
              }
            }
          }
        }
      }
      await dropWords(botId, former, signal)
    },
  }
}

/** Numbers of passages whose headings are new, by these. */
function byHeadings(places: readonly Place[]): Map<string, number[]> {
  const numbers = new Map<string, number[]>()
  for (const { number, headings, isNew } of places) {
    if (!isNew) continue
    const key = JSON.stringify(headings)
    numbers.set(key, [...(numbers.get(key) ?? []), number])
  }
  return numbers
}
