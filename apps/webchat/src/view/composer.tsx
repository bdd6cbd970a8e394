import { type ClipboardEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { fill } from '../words/index.js'
import { useChat, useChatState, useWords } from './context.js'
import { Icon } from './icon.js'
import { type Attachment, mostFiles, toMessage, useAttachments } from './uploads.js'

/** The field for messages, with files. */
export function Composer({ isShown }: { isShown: boolean }) {
  const words = useWords()
  const { session } = useChat()
  const { configuration, isOpen, takesFocus, messages, conversation } = useChatState()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const attachments = useAttachments(session)
  const id = useId()
  const canAttach = configuration.allowFileUpload === true && conversation !== undefined

  useEffect(() => {
    if (isOpen && isShown && takesFocus) field.current?.focus({ preventScroll: true })
  }, [isOpen, isShown, takesFocus])

  const add = (chosen: Iterable<File>) =>
    setProblem(attachments.add(chosen) ? '' : fill(words.tooManyFiles, { number: mostFiles }))
  // Files can be dropped anywhere on the chat: beside the field, the browser would leave the page for them.
  useEffect(() => {
    const chat = form.current?.closest('.chat')
    const drop = (event: Event) => {
      event.preventDefault()
      if (event instanceof DragEvent && event.type === 'drop' && canAttach) {
        add(event.dataTransfer?.files ?? [])
      }
    }
    for (const type of ['dragover', 'drop']) chat?.addEventListener(type, drop)
    return () => {
      for (const type of ['dragover', 'drop']) chat?.removeEventListener(type, drop)
    }
  })

  if (messages.at(-1)?.metadata?.conversationStatus === 'closed') {
    return (
      <div className="closed">
        {words.closed}{' '}
        <button type="button" className="option" onClick={() => session.restart()}>
          {words.restart}
        </button>
      </div>
    )
  }

  const files = attachments.list.flatMap(({ payload }) => payload ?? [])
  const isComplete = files.length === attachments.list.length
  const message = isComplete ? toMessage(files, text.trim()) : undefined
  const send = () => {
    if (message === undefined) {
      if (!isComplete) setProblem(words.notReady)
      return
    }
    session.outbox.add(message)
    setText('')
    setProblem('')
    attachments.clear()
    field.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the choice of a character in some languages.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  const onPaste = (event: ClipboardEvent) => {
    if (!canAttach || event.clipboardData.files.length === 0) return
    event.preventDefault()
    add(event.clipboardData.files)
  }

  return (
    <form
      ref={form}
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {attachments.list.length > 0 && (
        <ul className="attachments">
          {attachments.list.map((attachment) => (
            <AttachmentItem
              key={attachment.id}
              attachment={attachment}
              onRetry={attachments.retry}
              onRemove={attachments.remove}
            />
          ))}
        </ul>
      )}
      <p role="alert" className="note refusal">
        {problem}
      </p>
      <div className="line">
        {canAttach && (
          <>
            <button
              type="button"
              className="tool"
              aria-label={words.attach}
              title={words.attach}
              onClick={() => picker.current?.click()}
            >
              <Icon name="attach" />
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label={words.attach}
              onChange={({ target }) => {
                add(target.files ?? [])
                target.value = ''
              }}
            />
          </>
        )}
        <label className="sr" htmlFor={id}>
          {words.message}
        </label>
        <textarea
          ref={field}
          id={id}
          // For browsers that do not size a field by its content.
          rows={Math.min(text.split('\n').length, 6)}
          value={text}
          placeholder={configuration.composerPlaceholder ?? words.placeholder}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <button
          type="submit"
          className="send"
          aria-label={words.send}
          title={words.send}
          aria-disabled={message === undefined}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}

function AttachmentItem({
  attachment,
  onRetry,
  onRemove,
}: {
  attachment: Attachment
  onRetry(attachment: Attachment): void
  onRemove(attachment: Attachment): void
}) {
  const words = useWords()
  const { file, state, progress } = attachment
  const number = Math.round(progress * 100)
  const said = {
    uploading: words.uploading,
    ready: words.uploaded,
    failed: words.uploadFailed,
  }[state]
  return (
    <li className={state}>
      <span>{fill(said, { name: file.name, number })}</span>
      {state === 'uploading' && <progress value={progress} max={1} aria-label={file.name} />}
      {state === 'failed' && (
        <button type="button" className="link" onClick={() => onRetry(attachment)}>
          {words.retry}
        </button>
      )}
      <button
        type="button"
        className="tool"
        aria-label={fill(words.removeFile, { name: file.name })}
        onClick={() => onRemove(attachment)}
      >
        <Icon name="close" />
      </button>
      {/* Progress is not said, its end is. */}
      <span className="sr" role="status">
        {state === 'uploading' ? '' : fill(said, { name: file.name })}
      </span>
    </li>
  )
}
