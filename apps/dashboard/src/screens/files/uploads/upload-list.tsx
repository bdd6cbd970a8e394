import { Pause, Play, RotateCw, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button } from '../../../ui/button.js'
import { Name } from '../../../ui/name.js'
import { formatBytes } from '../../../ui/numbers.js'
import { Status, type StatusKind } from '../../../ui/status.js'
import { noteFailure } from '../../../ui/toasts.js'
import { useFile } from '../queries.js'
import {
  cancelUpload,
  clearFinished,
  continueLost,
  followAgain,
  isSent,
  pauseUpload,
  resumeUpload,
  type Upload,
  type UploadState,
  useUploads,
} from './uploads.js'
import styles from './uploads.module.css'

const states: Record<UploadState, { kind: StatusKind; label: string }> = {
  waiting: { kind: 'waiting', label: 'Waiting' },
  sending: { kind: 'working', label: 'Sending' },
  retrying: { kind: 'waiting', label: 'Trying again' },
  paused: { kind: 'off', label: 'Paused' },
  lost: { kind: 'attention', label: 'Interrupted' },
  failed: { kind: 'attention', label: 'Failed' },
  indexing: { kind: 'working', label: 'Uploaded, indexing' },
  notIndexed: { kind: 'attention', label: 'Uploaded, not searchable' },
  done: { kind: 'done', label: 'Uploaded' },
}

/** The uploads of this tab. */
export function UploadList() {
  const uploads = useUploads()
  if (uploads.length === 0) return null
  const count = (state: UploadState) => uploads.filter((upload) => upload.state === state).length
  const failed = count('failed') + count('lost') + count('notIndexed')
  const sent = uploads.filter(isSent).length
  return (
    <section className={styles.panel} aria-label="Uploads">
      <header className={styles.head}>
        <h2>Uploads</h2>
        <span role="status">
          {sent} of {uploads.length} done
          {failed > 0 && `, ${failed} need attention`}
        </span>
        {sent > 0 && (
          <Button kind="quiet" onClick={clearFinished}>
            Clear what is done
          </Button>
        )}
      </header>
      <ul className={styles.list}>
        {uploads.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  )
}

function UploadRow({ upload }: { upload: Upload }) {
  const { id, plan, state, sent, reason } = upload
  const { kind, label } = states[state]
  return (
    <li className={styles.upload}>
      <code className={styles.key}>
        <Name>{plan.key}</Name>
      </code>
      <progress
        className={styles.progress}
        aria-label={`Progress of ${plan.key}`}
        max={Math.max(plan.size, 1)}
        value={isSent(upload) ? Math.max(plan.size, 1) : sent}
      />
      <span className={`numeric ${styles.size}`}>
        {formatBytes(sent)} of {formatBytes(plan.size)}
      </span>
      <Status kind={kind}>{label}</Status>
      {state === 'notIndexed' && <IndexingWatch upload={upload} />}
      <span className={styles.buttons}>
        {(state === 'sending' || state === 'waiting' || state === 'retrying') && (
          <Button
            kind="quiet"
            icon={<Pause size={14} />}
            aria-label={`Pause ${plan.key}`}
            title="Pause"
            onClick={() => pauseUpload(id)}
          />
        )}
        {state === 'paused' && (
          <Button
            kind="quiet"
            icon={<Play size={14} />}
            aria-label={`Resume ${plan.key}`}
            title="Resume"
            onClick={() => resumeUpload(id)}
          />
        )}
        {state === 'failed' && (
          <Button
            kind="quiet"
            icon={<RotateCw size={14} />}
            aria-label={`Try ${plan.key} again`}
            title="Try again"
            onClick={() => resumeUpload(id)}
          />
        )}
        {state === 'lost' && <ChooseAgain upload={upload} />}
        <Button
          kind="quiet"
          icon={<X size={14} />}
          aria-label={isSent(upload) ? `Take ${plan.key} off the list` : `Cancel ${plan.key}`}
          title={isSent(upload) ? 'Take off the list' : 'Cancel'}
          onClick={() => void cancelUpload(id).catch(noteFailure)}
        />
      </span>
      {reason !== undefined && <p className={styles.reason}>{reason}</p>}
      {state === 'lost' && reason === undefined && (
        <p className={styles.reason}>
          The page was loaded anew. Choose the same file again, and the upload goes on where it was.
        </p>
      )}
    </li>
  )
}

/** Notices that a file whose indexing failed is being indexed again. */
function IndexingWatch({ upload: { id, plan } }: { upload: Upload }) {
  const status = useFile(plan.key, plan.botId).data?.file.status
  const isOver = status !== undefined && status !== 'indexing_failed'
  useEffect(() => {
    if (isOver) followAgain(id)
  }, [isOver, id])
  return null
}

/** Browsers forget the contents when a page is loaded anew. */
function ChooseAgain({ upload }: { upload: Upload }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button onClick={() => input.current?.click()}>Choose the file</Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={`Content of ${upload.plan.key}`}
        onChange={({ target }) => {
          const content = target.files?.[0]
          if (content !== undefined) continueLost(upload.id, content)
        }}
      />
    </>
  )
}
