import { Upload } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../../ui/button.js'
import { note } from '../../ui/toasts.js'
import type { File as StoredFile } from './queries.js'
import type { Plan } from './uploads/remembered.js'
import { startUploads } from './uploads/uploads.js'

/** Uploads another content under the key of a file; the description of the file stays. */
export function ReplaceContent({ file }: { file: StoredFile }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button icon={<Upload size={14} />} onClick={() => input.current?.click()}>
        {file.sha256 === undefined ? 'Upload' : 'Replace'}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={`New content of ${file.key}`}
        onChange={({ target }) => {
          const content = target.files?.[0]
          if (content === undefined) return
          startUploads([{ content, plan: planOf(file, content) }])
          note(`${content.name} is being sent. The content before stays until it is complete.`)
          // The same file can be chosen again afterwards.
          target.value = ''
        }}
      />
    </>
  )
}

function planOf(file: StoredFile, content: File) {
  const { botId, key, index, tags, metadata, accessPolicies, expiresAt } = file
  return {
    botId,
    key,
    size: content.size,
    index,
    tags,
    metadata,
    accessPolicies,
    ...indexingOf(metadata),
    ...(expiresAt !== undefined && { expiresAt }),
    contentType: typeOf(file, content),
  }
}

/** The indexing options of the file, which the server keeps in its metadata; a member of that name may be the author's own. */
function indexingOf({ indexing }: StoredFile['metadata']): Pick<Plan, 'indexing'> {
  const isOptions = isObject(indexing) && isObject(indexing.configuration)
  return isOptions ? { indexing: indexing as NonNullable<Plan['indexing']> } : {}
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** That of the file, unless the content is of another kind, such as a text that replaces a broken PDF. */
function typeOf(file: StoredFile, content: File): string {
  const isAlike = endingOf(content.name) === endingOf(file.key)
  return isAlike || content.type === '' ? file.contentType : content.type
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}
