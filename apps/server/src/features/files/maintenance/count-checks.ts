import {
  type ContentRow,
  discardContents,
  findContent,
  listContents,
} from '../contents/content-store.js'
import { discardParts } from '../contents/part-store.js'
import { countOf, recount } from '../contents/usage.js'
import { lockFile } from '../store.js'
import type { FileRow } from '../table.js'
import type { CheckOptions, ConsistencyDeps, Finding } from './consistency.js'
import * as store from './consistency-store.js'

const batchSize = 200
/** What is there already counts, however much it is. */
const noQuotas = { storage: Number.POSITIVE_INFINITY, vector: Number.POSITIVE_INFINITY }

/** Contents whose file is gone: they take room, and nobody can delete them any more. */
export async function* checkStrayContents(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  let after = { fileId: '', generation: 0 }
  for (;;) {
    const batch = await store.listContentsWithoutFile(db, after, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    after = { fileId: last.file_id, generation: last.generation }
    for (const { bot_id: botId, file_id: fileId, generation } of batch) {
      const size = await run(async (tx) => {
        const content = await findContent(tx, botId, { fileId, generation })
        if (content !== undefined && repair) {
          await discardParts(tx, botId, { fileId, generation })
          await discardContents(tx, botId, [content])
        }
        return content?.size
      })
      if (size === undefined) continue
      yield {
        kind: 'content without file',
        text: `generation ${generation} of file ${fileId}, ${size} bytes: bot ${botId} has no such file`,
        repaired: repair,
      }
    }
  }
}

/** What each file counts, and what its contents are. */
export async function* checkCounts(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  let after = ''
  for (;;) {
    const batch = await store.listFilesAfter(db, after, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    after = last.id
    const ids = batch.map(({ id }) => id)
    const contents = new Map(ids.map((id): [string, ContentRow[]] => [id, []]))
    for (const row of await store.listContentsOf(db, ids)) contents.get(row.file_id)?.push(row)
    for (const { bot_id: botId, id, ...seen } of batch) {
      if (isCounted(seen, countOf(contents.get(id) ?? []))) continue
      const wrong = await run(async (tx) => {
        const file = await lockFile(tx, botId, id)
        if (file === undefined) return undefined
        const found = countOf(await listContents(tx, botId, id))
        if (isCounted(file, found)) return undefined
        if (repair) await recount(tx, file, noQuotas)
        return { file, found }
      })
      if (wrong === undefined) continue
      const { file, found } = wrong
      yield {
        kind: 'file size',
        text: `file ${file.key} of bot ${botId}: ${file.counted_storage} bytes and ${file.counted_vector} indexed are counted, but its contents have ${found.storage} and ${found.vector}`,
        repaired: repair,
      }
    }
  }
}

function isCounted(
  file: Pick<FileRow, 'counted_storage' | 'counted_vector'>,
  found: { storage: number; vector: number },
): boolean {
  return file.counted_storage === found.storage && file.counted_vector === found.vector
}

/** The usage of each workspace, and the sum over its files. */
export async function* checkUsage(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  const isWrong = (usage: store.UsageCount) =>
    usage.storage !== usage.storageFound || usage.vector !== usage.vectorFound
  for (const { workspaceId } of (await store.listUsageCounts(db)).filter(isWrong)) {
    const usage = await run(async (tx) => {
      const locked = await store.lockUsageCount(tx, workspaceId)
      const { storageFound: storage, vectorFound: vector } = locked
      if (isWrong(locked) && repair) await store.setUsage(tx, workspaceId, { storage, vector })
      return locked
    })
    if (!isWrong(usage)) continue
    yield {
      kind: 'usage',
      text: `workspace ${workspaceId}: ${usage.storage} bytes of files and ${usage.vector} indexed are counted, but its files have ${usage.storageFound} and ${usage.vectorFound}`,
      repaired: repair,
    }
  }
}
