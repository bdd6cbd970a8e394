import {
  addNameTitle,
  type ContextOptions,
  toIndexText,
  toNewWords,
} from '@botstead/documents/text'
import { decodeJson } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { ClearPassages, FilesIndexing } from '../../files/index.js'
import { listFileKeys } from '../../files/lookup/index.js'
import type { KeywordIndex } from '../keywords/index.js'
import * as store from '../passage-store.js'
import * as texts from '../passage-text-store.js'
import { withoutMarks } from '../retrieval/index.js'
import { deleteWords, holdWords, insertWords } from '../vocabulary-store.js'
import { type IngestPool, listPassageWords } from './ingest.js'
import type { PassageText, PassageWords } from './ingest-task.js'

/*
 * The jobs on passages that exist: those that are no longer found are cleared, and those of earlier releases get
 * the words and index entries of this one.
 */

/** Passages per read: few enough to keep transactions short. */
const clearedAtOnce = 100
/** Words per transaction: few enough to keep transactions short. */
const wordsAtOnce = 100

export interface ExistingPassagesDeps {
  db: Db
  run: Run
  index: KeywordIndex
  ingestPool: IngestPool
}

/** Removes passages of a file that are no longer found, and the words that occurred only there. */
export function createClearPassages(
  deps: ExistingPassagesDeps & { indexing: Pick<FilesIndexing, 'usefulPassages'> },
): JobHandler<ClearPassages> {
  const { db, run, index, ingestPool, indexing } = deps

  async function readWords(
    { botId, fileId, key = '' }: ClearPassages,
    useful: store.UsefulPassages | undefined,
    signal: AbortSignal,
  ): Promise<Set<string>> {
    const words = new Set<string>()
    for (let after = -1; ; ) {
      const page = { after, limit: clearedAtOnce }
      const rows = await store.listUseless(db, botId, fileId, useful, page)
      const last = rows.at(-1)
      if (last === undefined) return words
      after = last.number
      const passages = rows.map(({ content, headings, own_headings }) => ({
        content,
        headings: decodeJson<string[]>(headings),
        ownHeadings: decodeJson<string[]>(own_headings),
      }))
      const listed = await listPassageWords(ingestPool, passages, { key, context: {} }, signal)
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
      await dropWords({ run, index }, botId, words)
    },
  }
}

/** Removes words of the vocabulary that no passage of the bot contains. */
async function dropWords(
  { run, index }: Pick<ExistingPassagesDeps, 'run' | 'index'>,
  botId: string,
  words: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<void> {
  const sorted = [...words].sort()
  for (let start = 0; start < sorted.length; start += wordsAtOnce) {
    signal?.throwIfAborted()
    const some = sorted.slice(start, start + wordsAtOnce)
    await run(
      async (tx) => {
        await holdWords(tx, botId)
        await deleteWords(tx, botId, await index.missing(tx, botId, some))
      },
      { mayUseReserve: true },
    )
  }
}

/** Enqueued by the migration that added file names to the index; its key is the id of the bot. */
export const replaceEntriesJob = 'search.names'

interface ReplaceEntries {
  botId: string
}

const filesAtOnce = 100
/** Passages per transaction: few enough to keep transactions short. */
const passagesAtOnce = 20
/** Words that are remembered for removal; the others stay in the list, where they are harmless. */
const maxFormerWords = 200_000

/** A passage with its new headings. */
interface ReindexedPassage extends PassageText {
  number: number
  id: string
  /** Whether the name of the file was added to its headings. */
  isNew: boolean
}

/**
 * Replaces the index entries of an earlier release by ones that include file names and
 * distinguish `ö` from `o`. Until then a passage is found by its former entry. Repeatable.
 */
export function createReplaceEntries(deps: ExistingPassagesDeps): JobHandler<ReplaceEntries> {
  const { db, run, index, ingestPool } = deps

  /** The files of a bot, read a hundred at a time. */
  async function* filesOf(botId: string) {
    for (let after = ''; ; ) {
      const files = await listFileKeys(db, botId, { after, limit: filesAtOnce })
      const last = files.at(-1)
      if (last === undefined) return
      after = last.id
      yield* files
    }
  }

  async function readPassages(file: { id: string; key: string }, generation: number) {
    const rows = await texts.listHeadings(db, file.id, generation)
    const former = rows.map((row) => ({
      ...row,
      content: '',
      headings: decodeJson<string[]>(row.headings),
      ownHeadings: decodeJson<string[]>(row.own_headings),
    }))
    // Only a title is above the beginning of a document.
    const hasTitle = (former[0]?.headings.length ?? 0) > 0
    const titled = hasTitle ? former : addNameTitle(former, file.key)
    return titled.map(
      (passage, at): ReindexedPassage => ({
        ...passage,
        isNew: passage.headings.length !== former[at]?.headings.length,
      }),
    )
  }

  async function write(
    botId: string,
    passages: readonly ReindexedPassage[],
    words: readonly PassageWords[],
  ) {
    await run(async (tx) => {
      const same = await texts.listUnchanged(tx, passages)
      const entries = passages.flatMap(({ number }, at) => {
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
      for (const [headings, moved] of byHeadings(passages)) {
        const numbers = moved.filter((number) => same.has(number))
        if (numbers.length > 0) await texts.patchHeadings(tx, numbers, headings)
      }
    })
  }

  /**
   * Replaces the entries of the passages of one generation of a file.
   * @returns the words that have another spelling now, in their former one
   */
  async function replacePassages(
    botId: string,
    passages: readonly ReindexedPassage[],
    to: { key: string; context: ContextOptions },
    signal: AbortSignal,
  ): Promise<Set<string>> {
    const former = new Set<string>()
    for (let start = 0; start < passages.length; start += passagesAtOnce) {
      signal.throwIfAborted()
      const some = passages.slice(start, start + passagesAtOnce)
      const contents = await texts.readContents(
        db,
        some.map(({ number }) => number),
      )
      const written = some.map(({ number, headings, ownHeadings }) => ({
        content: contents.get(number) ?? '',
        headings,
        ownHeadings,
      }))
      const words = await listPassageWords(ingestPool, written, to, signal)
      await write(botId, some, words)
      for (const word of words.flatMap(toFormerWords)) former.add(word)
    }
    return former
  }

  return {
    handler: async ({ payload: { botId } }, { signal }) => {
      const former = new Set<string>()
      for await (const { id, key } of filesOf(botId)) {
        for (const { generation, context } of await texts.listGenerations(db, id)) {
          const passages = await readPassages({ id, key }, generation)
          for (const word of await replacePassages(botId, passages, { key, context }, signal)) {
            if (former.size < maxFormerWords) former.add(word)
          }
        }
      }
      await dropWords(deps, botId, former, signal)
    },
  }
}

/** The words of a passage that were spelt without marks by an earlier release. */
function toFormerWords({ fields }: PassageWords): string[] {
  return fields.body.split(' ').flatMap((word) => {
    const bare = withoutMarks(word)
    return bare === word ? [] : [bare]
  })
}

/** Numbers of the passages with new headings, by their headings as JSON. */
function byHeadings(passages: readonly ReindexedPassage[]): Map<string, number[]> {
  const numbers = new Map<string, number[]>()
  for (const { number, headings, isNew } of passages) {
    if (!isNew) continue
    const key = JSON.stringify(headings)
    numbers.set(key, [...(numbers.get(key) ?? []), number])
  }
  return numbers
}

/** Enqueued by the migration that added the vocabulary; its key is the id of the bot. */
export const listWordsJob = 'search.words'

interface ListWords {
  botId: string
}

/** Lists the words of passages that were indexed before the vocabulary existed. */
export function createListWords({ run }: { run: Run }): JobHandler<ListWords> {
  return {
    handler: async ({ payload: { botId } }, { signal }) => {
      for (let after: number | undefined = -1; after !== undefined; ) {
        signal.throwIfAborted()
        const page = { after, limit: passagesAtOnce }
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
