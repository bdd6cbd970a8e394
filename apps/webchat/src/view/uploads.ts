import { useReducer, useRef } from 'react'
import { HttpError, newId, upload } from '../client/api.js'
import type { Session } from '../client/session.js'
import type { Payload } from '../shared/bridge.js'

/** Maximum number of files in one message. */
export const maxFiles = 8

type Failure = 'tooLarge' | 'wrongType' | 'uploadFailed'

/** A file that is being added to the next message. */
export interface Attachment {
  id: string
  file: File
  state: 'uploading' | 'ready' | 'failed'
  /** Uploaded share, from 0 to 1. */
  progress: number
  /** Its payload in the message, once it is uploaded. */
  payload?: Payload
  /** Name of the text that says why it failed. */
  failure?: Failure
  controller: AbortController
}

/** The files that are being added to the next message; each upload begins immediately. */
export function useAttachments({ store, api }: Session) {
  const list = useRef<readonly Attachment[]>([])
  const [, render] = useReducer((count: number) => count + 1, 0)
  const set = (next: readonly Attachment[]) => {
    list.current = next
    render()
  }
  const patch = (id: string, change: Partial<Attachment>) =>
    set(list.current.map((each) => (each.id === id ? { ...each, ...change } : each)))

  async function send({ id, file, controller }: Attachment): Promise<void> {
    try {
      const conversationId = store.get().conversation?.id
      if (conversationId === undefined) throw new Error('There is no conversation')
      const { file: made } = await api.announceFile(file, conversationId)
      const to = { url: made.uploadUrl, contentType: made.contentType }
      const onProgress = (progress: number) => patch(id, { progress })
      await upload(file, to, onProgress, controller.signal)
      patch(id, { state: 'ready', progress: 1, payload: toPayload(file.name, made) })
    } catch (error) {
      patch(id, { state: 'failed', failure: failureOf(error) })
    }
  }

  return {
    list: list.current,
    /** Adds files up to {@link maxFiles}; returns whether all were added. */
    add(files: Iterable<File>): boolean {
      const wanted = [...files]
      const accepted = wanted.slice(0, maxFiles - list.current.length)
      const added = accepted.map(
        (file): Attachment => ({
          id: newId(),
          file,
          state: 'uploading',
          progress: 0,
          controller: new AbortController(),
        }),
      )
      set([...list.current, ...added])
      for (const attachment of added) void send(attachment)
      return accepted.length === wanted.length
    },
    retry(attachment: Attachment) {
      patch(attachment.id, { state: 'uploading', progress: 0 })
      void send(attachment)
    },
    remove({ id, controller }: Attachment) {
      controller.abort()
      set(list.current.filter((each) => each.id !== id))
    },
    clear: () => set([]),
  }
}

/** The first two are refusals of the file itself, which would be the same again. */
function failureOf(error: unknown): Failure {
  const status = error instanceof HttpError ? error.status : 0
  return status === 413 ? 'tooLarge' : status === 415 ? 'wrongType' : 'uploadFailed'
}

function toPayload(name: string, file: { id: string; url: string; contentType: string }): Payload {
  const [kind = ''] = file.contentType.split('/', 1)
  if (['image', 'audio', 'video'].includes(kind)) {
    return { type: kind, [`${kind}Url`]: file.url, fileId: file.id }
  }
  return { type: 'file', title: name, fileUrl: file.url, fileId: file.id }
}

/** The message of files and a text: a bloc with the text last if there are several parts; undefined if there is none. */
export function toMessage(files: readonly Payload[], text: string): Payload | undefined {
  const parts = text === '' ? [...files] : [...files, { type: 'text', text }]
  if (parts.length <= 1) return parts[0]
  return { type: 'bloc', items: parts.map(({ type, ...payload }) => ({ type, payload })) }
}
