import { ApiError } from '@botstead/contract'
import { useSyncExternalStore } from 'react'
import { call, refreshAfter } from '../../../api/queries.js'
import { messageOf } from '../../../ui/states.js'
import { type Interrupted, type Plan, readInterrupted, rememberInterrupted } from './remembered.js'
import { BrokenConnectionError, offsetOf, sendRest, terminate } from './tus.js'

/**
 * `waiting` for other uploads, `sending`, `retrying` after the connection broke, `paused` by the reader, `lost`: the page was
 * reloaded and the content has to be chosen again, `failed`, `done`; `indexing` and `notIndexed`: the content
 * was sent, and is being made searchable or could not be.
 */
export type UploadState =
  | 'waiting'
  | 'sending'
  | 'retrying'
  | 'paused'
  | 'lost'
  | 'failed'
  | 'indexing'
  | 'notIndexed'
  | 'done'

/** Whether all of the content was sent. */
export function isSent({ state }: Upload): boolean {
  return state === 'done' || state === 'indexing' || state === 'notIndexed'
}

export interface Upload {
  id: number
  plan: Plan
  state: UploadState
  /** Bytes that were sent. */
  sent: number
  /** The reason for the failure or the wait. */
  reason?: string | undefined
}

/** The members of an upload that are not shown. */
interface Work {
  content: File | undefined
  uploadUrl: string | undefined
  /** Whether the file had a content before. */
  isReplacement: boolean
  lastModified: number
  control: AbortController | undefined
}

/** Uploads that are sent at the same time. */
const sentAtOnce = 3
/** Milliseconds before each new attempt after the connection broke. */
const retryPauses = [1000, 2000, 4000, 8000, 16_000, 30_000]
/** Milliseconds between two looks at files that are being indexed. */
const indexingPause = 1000
/** Files that one look asks for: the oldest, which are indexed first. */
const maxFollowed = 5

let uploads: readonly Upload[] = []
let lastId = 0
const works = new Map<number, Work>()
const listeners = new Set<() => void>()

function publish(next: readonly Upload[]): void {
  uploads = next
  for (const listener of listeners) listener()
}

function change(id: number, changes: Partial<Upload>): void {
  publish(uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)))
}

/** Stores the data with which a reloaded page continues; called when an upload changes its state. */
function keep(): void {
  const unfinished = uploads.flatMap(({ id, plan, sent, state }): Interrupted[] => {
    const { uploadUrl, lastModified = 0 } = works.get(id) ?? {}
    return uploadUrl === undefined || state === 'done'
      ? []
      : [{ plan, sent, uploadUrl, lastModified }]
  })
  rememberInterrupted(unfinished)
}

function add(
  plan: Plan,
  work: Omit<Work, 'control' | 'isReplacement'>,
  state: UploadState,
  sent = 0,
): number {
  lastId += 1
  works.set(lastId, { ...work, control: undefined, isReplacement: false })
  publish([...uploads, { id: lastId, plan, state, sent }])
  return lastId
}

for (const { plan, sent, ...rest } of readInterrupted()) {
  const id = add(plan, { content: undefined, ...rest }, 'lost', sent)
  void lookAt(id, rest.uploadUrl, plan.size)
}

/** Requests the number of bytes that the server has of an interrupted upload; it may have all. */
async function lookAt(id: number, uploadUrl: string, size: number): Promise<void> {
  const { signal } = new AbortController()
  const sent = await offsetOf(uploadUrl, signal).catch(() => undefined)
  const isLost = uploads.some((upload) => upload.id === id && upload.state === 'lost')
  if (sent === undefined || !isLost) return
  if (sent === size) works.delete(id)
  if (sent === size) finish(id)
  else change(id, { sent })
  keep()
}

/** All uploads of this tab, the oldest first. They go on while other screens are shown. */
export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => uploads,
  )
}

/** Uploads contents. One that a reload had interrupted goes on where it was. */
export function startUploads(contents: readonly { plan: Plan; content: File }[]): void {
  for (const { plan, content } of contents) {
    const lost = uploads.find(
      ({ id, state, plan: of }) =>
        state === 'lost' && of.key === plan.key && of.botId === plan.botId && isSame(id, content),
    )
    if (lost !== undefined) continueLost(lost.id, content)
    else add(plan, { content, uploadUrl: undefined, lastModified: content.lastModified }, 'waiting')
  }
  startNext()
}

function isSame(id: number, content: File): boolean {
  const upload = uploads.find((each) => each.id === id)
  return upload?.plan.size === content.size && works.get(id)?.lastModified === content.lastModified
}

/** Continues an upload whose content was chosen again; says so if it is another content. */
export function continueLost(id: number, content: File): void {
  const work = works.get(id)
  if (work === undefined) return
  if (!isSame(id, content)) {
    change(id, { reason: 'This is another content: its size or time differs. Upload it anew.' })
    return
  }
  work.content = content
  change(id, { state: 'waiting', reason: undefined })
  startNext()
}

export function pauseUpload(id: number): void {
  change(id, { state: 'paused', reason: undefined })
  works.get(id)?.control?.abort()
  startNext()
}

/** Resumes a paused or failed upload. */
export function resumeUpload(id: number): void {
  change(id, { state: 'waiting', reason: undefined })
  startNext()
}

/** Ends an upload and takes it off the list; a file that has no content by then is deleted. */
export async function cancelUpload(id: number): Promise<void> {
  const upload = uploads.find((each) => each.id === id)
  const work = works.get(id)
  publish(uploads.filter((each) => each.id !== id))
  works.delete(id)
  keep()
  work?.control?.abort()
  startNext()
  if (upload === undefined || work?.uploadUrl === undefined || isSent(upload)) return
  const { botId, key } = upload.plan
  await terminate(work.uploadUrl)
  if (!work.isReplacement) {
    await call({ botId }, 'deleteFile', { id: key }).catch(() => {
      // Somebody else deleted it, or it is shown as failed in the list.
    })
  }
  await refreshAfter('upsertFile')
}

/** Takes the finished ones off the list. */
export function clearFinished(): void {
  for (const upload of uploads) if (isSent(upload)) works.delete(upload.id)
  publish(uploads.filter((upload) => !isSent(upload)))
}

function startNext(): void {
  keep()
  const running = uploads.filter(({ state }) => state === 'sending' || state === 'retrying')
  const next = uploads.filter(({ state }) => state === 'waiting')
  for (const { id } of next.slice(0, Math.max(0, sentAtOnce - running.length))) {
    change(id, { state: 'sending' })
    void run(id)
  }
}

/** Works on an upload until it is done, paused or refused. */
async function run(id: number): Promise<void> {
  const work = works.get(id)
  if (work === undefined) return
  const control = new AbortController()
  work.control = control
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await send(id, work, control.signal)
        break
      } catch (error) {
        const pause = retryPauses[attempt]
        if (!mayPass(error) || pause === undefined || control.signal.aborted) throw error
        const reason = `${messageOf(error)} Trying again in ${pause / 1000} s.`
        change(id, { state: 'retrying', reason })
        await wait(pause, control.signal)
        change(id, { state: 'sending', reason: undefined })
      }
    }
    work.uploadUrl = undefined
    finish(id)
  } catch (error) {
    if (!control.signal.aborted) change(id, { state: 'failed', reason: messageOf(error) })
  } finally {
    void refreshAfter('upsertFile')
    startNext()
  }
}

/** Notes that all of a content was sent; one that is to be searchable is followed until it is. */
function finish(id: number): void {
  const plan = uploads.find((upload) => upload.id === id)?.plan
  if (plan === undefined) return
  change(id, { state: plan.index ? 'indexing' : 'done', sent: plan.size })
  if (plan.index && !isFollowing) void followIndexing()
}

/** Follows the indexing of a sent file again, which somebody has started anew. */
export function followAgain(id: number): void {
  change(id, { state: 'indexing', reason: undefined })
  if (!isFollowing) void followIndexing()
}

let isFollowing = false

/** Looks at sent files until each is searchable or has failed, or was taken off the list. */
async function followIndexing(): Promise<void> {
  isFollowing = true
  for (;;) {
    const followed = uploads.filter(({ state }) => state === 'indexing').slice(0, maxFollowed)
    if (followed.length === 0) break
    for (const { id, plan } of followed) {
      // A file that cannot be read was deleted, or the list below shows its state.
      const file = await call({ botId: plan.botId }, 'getFile', { id: plan.key }).then(
        (found) => found.file,
        () => undefined,
      )
      if (file?.status === 'indexing_pending') continue
      if (file?.status === 'indexing_failed') {
        change(id, { state: 'notIndexed', reason: file.failedStatusReason })
      } else change(id, { state: 'done' })
    }
    await new Promise((resolve) => setTimeout(resolve, indexingPause))
  }
  isFollowing = false
}

/** Whether a later attempt can succeed without anybody doing something. */
function mayPass(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.status >= 500 || [408, 409, 429].includes(error.status)
  return error instanceof BrokenConnectionError || error instanceof TypeError
}

async function send(id: number, work: Work, signal: AbortSignal): Promise<void> {
  const upload = uploads.find((each) => each.id === id)
  const { content } = work
  if (upload === undefined || content === undefined) throw new Error('The content is missing.')
  let offset = work.uploadUrl === undefined ? undefined : await offsetOf(work.uploadUrl, signal)
  if (work.uploadUrl === undefined || offset === undefined) {
    const { botId, ...description } = upload.plan
    const { file } = await call({ botId }, 'upsertFile', description, { signal })
    work.uploadUrl = file.uploadUrl
    work.isReplacement = file.sha256 !== undefined
    offset = 0
    keep()
    void refreshAfter('upsertFile')
  }
  const { uploadUrl } = work
  const onProgress = (sent: number) => change(id, { sent })
  onProgress(offset)
  const received = await sendRest({ uploadUrl, content, offset, onProgress, signal })
  if (received < content.size) throw new BrokenConnectionError('The connection broke.')
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', end, { once: true })
  })
}

/** The browser asks before a page is left on which contents are being sent. */
addEventListener('beforeunload', (event) => {
  if (uploads.some(({ state }) => ['sending', 'waiting', 'retrying'].includes(state))) {
    event.preventDefault()
  }
})
