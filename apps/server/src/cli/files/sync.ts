import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@botstead/contract'
import { messageForPeople } from '@botstead/contract/error-text'
import { inParallel } from '../parallel.js'
import type { AwaitedFile } from './indexing.js'
import type { Progress } from './output.js'
import { findFile, listFiles, type RemoteFile, withRetries } from './remote.js'
import { type Description, isLost, measure, sendFile, withFormer } from './transfer.js'

export interface SyncOptions {
  folder: string
  /** Prefix of all keys; other files of the bot are not read or deleted. Without one, undefined. */
  prefix: string | undefined
  description: Description
  /** Whether to delete files with the prefix that the folder does not have. */
  remove: boolean
  /** Whether to skip uploads and deletions. */
  dryRun: boolean
  /** Whether to include names that are hidden: see `isHidden`. */
  hidden: boolean
  /** Concurrent uploads. */
  concurrency: number
}

/** The outcome of a synchronisation, in files unless noted. */
export interface SyncResult {
  sent: number
  /** Files whose content was there already; only their tags changed. */
  described: number
  unchanged: number
  deleted: number
  failed: number
  /** Symbolic links and the like. */
  skipped: number
  /** Bytes. */
  sentBytes: number
  /** Files whose indexing was requested, now or by an earlier run. */
  toIndex: AwaitedFile[]
}

interface SyncDeps {
  client: Client
  progress: Progress
  signal: AbortSignal
}

/**
 * Makes the files with a prefix equal to those of a folder. Contents with the same hash are
 * not uploaded again, so that the next run continues one that was interrupted; contents that the
 * server has lost are uploaded again.
 */
export async function syncFolder(deps: SyncDeps, options: SyncOptions): Promise<SyncResult> {
  const { client, progress, signal } = deps
  const { prefix = '' } = options
  const tree = await readFolder(options.folder, { ...options, prefix })
  if (options.remove) requireSafeRemoval(options, tree.files.length)
  const remote = new Map<string, RemoteFile>()
  for await (const file of listFiles(client, prefix, signal)) {
    // Integrations have keys of their own, which may equal those of the folder.
    if (file.owner.type !== 'integration') remote.set(file.key, file)
  }

  const result: SyncResult = {
    sent: 0,
    described: 0,
    unchanged: 0,
    deleted: 0,
    failed: 0,
    sentBytes: 0,
    toIndex: [],
    skipped: tree.skipped.length,
  }
  const sizes = await Promise.all(tree.files.map(async ({ path }) => (await stat(path)).size))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const vanished = options.remove ? vanishedKeys(tree, remote) : []
  progress.total({ files: tree.files.length + vanished.length, bytes })

  const attempt = async (key: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (signal.aborted) throw error
      result.failed += 1
      progress.failed(key, messageForPeople(error instanceof Error ? error.message : String(error)))
    }
  }

  async function bring({ key, path }: { key: string; path: string }): Promise<void> {
    const file = await measure(path, signal)
    const there = remote.get(key)
    const known = need(file.sha256, there, options.description)
    const isThere = there !== undefined && known !== 'content'
    const needed =
      isThere && (await withRetries(signal, () => isLost(client, there, signal)))
        ? 'content'
        : known
    const isSearchable = there?.status === 'indexing_completed'
    const awaited = isThere ? { ...there, isSearchable } : undefined
    switch (needed) {
      case 'nothing':
        result.unchanged += 1
        progress.bytes(file.size)
        noteIndexed(awaited)
        return progress.unchanged()
      case 'tags': {
        const id = there?.id ?? key
        const { tags } = options.description
        if (!options.dryRun) {
          await withRetries(signal, () => client.updateFileMetadata({ id, tags }, { signal }))
        }
        result.described += 1
        progress.bytes(file.size)
        noteIndexed(awaited)
        return progress.done(options.dryRun ? 'tag' : 'tagged', key)
      }
      case 'content': {
        if (!options.dryRun) {
          const send = async () => {
            // It may have changed since the synchronisation began.
            const former = there && (await findFile(client, there.id, signal))
            const description = withFormer(options.description, former)
            return await sendFile({ client, key, file, description, signal })
          }
          noteIndexed(await withRetries(signal, send))
        }
        result.sent += 1
        result.sentBytes += file.size
        progress.bytes(file.size)
        return progress.done(options.dryRun ? 'send' : 'sent', key)
      }
    }
  }

  function noteIndexed(file: AwaitedFile | undefined): void {
    if (file !== undefined && options.description.index) result.toIndex.push(file)
  }

  await inParallel(tree.files, options.concurrency, signal, (file) =>
    attempt(file.key, () => bring(file)),
  )
  await inParallel(vanished, options.concurrency, signal, (key) =>
    attempt(key, async () => {
      const id = remote.get(key)?.id ?? key
      if (!options.dryRun) await withRetries(signal, () => client.deleteFile({ id }, { signal }))
      result.deleted += 1
      progress.done(options.dryRun ? 'delete' : 'deleted', key)
    }),
  )
  return result
}

/** An unmounted folder or a forgotten prefix must not empty a bot. */
function requireSafeRemoval({ prefix, folder }: SyncOptions, found: number): void {
  if (prefix === undefined) {
    throw new Error(
      '--delete needs --prefix, so that no other files of the bot are deleted; --prefix "" if the folder has all files of the bot.',
    )
  }
  if (found === 0) {
    const all = prefix === '' ? 'all files of the bot' : `all below ${prefix}`
    throw new Error(`${folder} has no files, and --delete would delete ${all}.`)
  }
}

function vanishedKeys(
  tree: { files: readonly { key: string }[]; skipped: readonly string[] },
  remote: ReadonlyMap<string, RemoteFile>,
): string[] {
  const here = new Set([...tree.files.map(({ key }) => key), ...tree.skipped])
  return [...remote.keys()].filter((key) => !here.has(key))
}

/** The part of a file that must be sent to the server. */
function need(
  sha256: string,
  remote: RemoteFile | undefined,
  { index, tags, allowPartial = false }: Description,
): 'nothing' | 'tags' | 'content' {
  if (remote?.sha256 !== sha256 || remote.index !== index) return 'content'
  if (allowPartial && remote.status === 'indexing_failed' && !allowsPartial(remote))
    return 'content'
  const same = Object.entries(tags).every(([name, value]) => remote.tags[name] === value)
  return same ? 'nothing' : 'tags'
}

/** Whether a file was sent with the request to index it even if most of it cannot be read. */
function allowsPartial({ metadata }: RemoteFile): boolean {
  const text = JSON.stringify(metadata.indexing ?? null)
  return text.includes('"allowPartial":true')
}

/** The files below a folder; keys have `/` between their parts on every system. */
interface FolderTree {
  files: { key: string; path: string }[]
  /** Keys of symbolic links and of anything but files and folders: not followed, not uploaded. */
  skipped: string[]
}

/**
 * Whether programs hide a file of this name from people: names with a dot, lock files of documents that are open in
 * Office, and what Windows stores in folders.
 */
function isHidden(name: string): boolean {
  return /^(?:\.|~\$)|^(?:thumbs\.db|desktop\.ini)$/i.test(name)
}

/** Finds all files below a folder, in the order of their names. */
export async function readFolder(
  root: string,
  options: { hidden: boolean; prefix: string },
): Promise<FolderTree> {
  const tree: FolderTree = { files: [], skipped: [] }
  async function enter(folder: string, prefix: string): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true })
    entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      if (isHidden(entry.name) && !options.hidden) continue
      const path = join(folder, entry.name)
      // Some systems decompose accented letters; the same name must give the same key.
      const key = `${prefix}${entry.name.normalize('NFC')}`
      if (entry.isDirectory()) await enter(path, `${key}/`)
      else if (entry.isFile()) tree.files.push({ key, path })
      else tree.skipped.push(key)
    }
  }
  await enter(root, options.prefix)
  return tree
}
