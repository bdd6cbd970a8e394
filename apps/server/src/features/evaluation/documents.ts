import { isoTime } from '../../platform/clock.js'
import { purge } from '../../platform/db/purge.js'
import { listSearchableFiles, type SearchableFile } from '../files/lookup/index.js'
import type { EvaluationDeps } from './dependencies.js'
import * as store from './documents-store.js'
import { lockRun } from './runs-store.js'
import type { DocumentRow } from './table.js'

/** A document that changed between two runs. */
export interface DocumentChange {
  fileId: string
  fileKey: string
  change: 'added' | 'replaced' | 'reindexed' | 'removed'
}

const filesAtOnce = 200
/** Changes that are counted. */
const maxChanges = 2000

/**
 * Records the documents of a bot at the beginning of a run. Only changes since the run before are written, so that
 * many runs of many documents need little space. Repeatable; never at the same time as another run of the bot. Ends
 * early when the run is removed: after its bot is purged, nobody would delete what it wrote.
 */
export async function recordDocuments(
  { db, run, clock }: Pick<EvaluationDeps, 'db' | 'run' | 'clock'>,
  botId: string,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const scope = { botId, integrationId: undefined, now: isoTime(clock.now()) }
  let after = ''
  for (;;) {
    signal.throwIfAborted()
    const files = await listSearchableFiles(db, scope, { after, limit: filesAtOnce })
    const last = files.length < filesAtOnce ? undefined : files.at(-1)?.id
    const valid = await store.listValid(db, botId, { after, last })
    const { ended, begun } = toChanges(files, valid)
    if (ended.length > 0 || begun.length > 0) {
      const isThere = await run(async (tx) => {
        if (!(await lockRun(tx, runId))) return false
        await store.endDocuments(tx, botId, ended, runId)
        const rows = begun.map((file) => toRow(file, botId, runId))
        await store.insertDocuments(tx, rows)
        return true
      })
      if (!isThere) return
    }
    if (last === undefined) return
    after = last
  }
}

function toChanges(files: readonly SearchableFile[], valid: readonly DocumentRow[]) {
  const known = new Map(valid.map((row) => [row.file_id, row]))
  const begun = files.filter(({ id, key, generation }) => {
    const row = known.get(id)
    return row?.generation !== generation || row.file_key !== key
  })
  const same = new Set(files.map(({ id }) => id))
  for (const { id } of begun) same.delete(id)
  return { begun, ended: valid.map(({ file_id }) => file_id).filter((id) => !same.has(id)) }
}

function toRow({ id, key, generation, sha256 }: SearchableFile, botId: string, runId: string) {
  return {
    bot_id: botId,
    file_id: id,
    file_key: key,
    generation,
    sha256: sha256 ?? '',
    since: runId,
    until: null,
  }
}

/** The documents that changed between two runs, in the order of their ids. */
export async function compareDocuments(
  { db }: Pick<EvaluationDeps, 'db'>,
  botId: string,
  { older, newer }: { older: string; newer: string },
): Promise<DocumentChange[]> {
  const rows = await store.listChanges(db, botId, { older, newer, limit: 2 * maxChanges })
  const isValidAt = ({ since, until }: DocumentRow, runId: string) =>
    since <= runId && (until === null || until > runId)
  const files = new Map<string, { before?: DocumentRow; after?: DocumentRow }>()
  for (const row of rows) {
    const known = files.get(row.file_id) ?? {}
    files.set(row.file_id, {
      ...known,
      ...(isValidAt(row, older) && { before: row }),
      ...(isValidAt(row, newer) && { after: row }),
    })
  }
  return [...files.values()]
    .flatMap(({ before, after }): DocumentChange[] => {
      const row = after ?? before
      if (row === undefined) return []
      const change =
        before === undefined
          ? 'added'
          : after === undefined
            ? 'removed'
            : before.sha256 === after.sha256
              ? 'reindexed'
              : 'replaced'
      return [{ fileId: row.file_id, fileKey: row.file_key, change }]
    })
    .slice(0, maxChanges)
}

/** Forgets documents that no run from `oldest` on saw. */
export async function forgetDocuments(
  { run }: Pick<EvaluationDeps, 'run'>,
  botId: string,
  oldest: string,
): Promise<void> {
  await purge(run, (tx, limit) => store.deleteDocuments(tx, botId, limit, oldest))
}
