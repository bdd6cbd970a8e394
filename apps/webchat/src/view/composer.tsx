import { isComposing } from '@botstead/contract/composing'
import { type ClipboardEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { format } from '../translations/index.js'
import { useChat, useChatState, useTranslation } from './context.js'
import { Icon } from './icon.js'
import { type Attachment, maxFiles, toMessage, useAttachments } from './uploads.js'

/** The field for messages, with files. */
export function Composer({ isShown }: { isShown: boolean }) {
  const texts = useTranslation()
  const { session } = useChat()
  const { configuration, isOpen, takesFocus, messages, conversation } = useChatState()
  const [text, setText] = useState('')
  const [notice, setNotice] = useState('')
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
    setNotice(attachments.add(chosen) ? '' : format(texts.tooManyFiles, { number: maxFiles }))
  // Files can be dropped anywhere on the chat. Without a handler, the browser would open them in place of the page.
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
        {texts.closed}{' '}
        <button type="button" className="option" onClick={() => session.restart()}>
          {texts.restart}
        </button>
      </div>
    )
  }

  const files = attachments.list.flatMap(({ payload }) => payload ?? [])
  const isComplete = files.length === attachments.list.length
  const message = isComplete ? toMessage(files, text.trim()) : undefined
  const send = () => {
    if (message === undefined) {
      if (!isComplete) setNotice(texts.notReady)
      return
    }
    session.outbox.add(message)
    setText('')
    setNotice('')
    attachments.clear()
    field.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return
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
        {notice}
      </p>
      <div className="input-row">
        {canAttach && (
          <>
            <button
              type="button"
              className="tool"
              aria-label={texts.attach}
              title={texts.attach}
              onClick={() => picker.current?.click()}
            >
              <Icon name="attach" />
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label={texts.attach}
              onChange={({ target }) => {
                add(target.files ?? [])
                target.value = ''
              }}
            />
          </>
        )}
        <label className="visually-hidden" htmlFor={id}>
          {texts.message}
        </label>
        <textarea
          ref={field}
          id={id}
          // For browsers that do not size a field by its content.
          rows={Math.min(text.split('\n').length, 6)}
          value={text}
          placeholder={configuration.composerPlaceholder || texts.placeholder}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <button
          type="submit"
          className="send"
          aria-label={texts.send}
          title={texts.send}
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
  const texts = useTranslation()
  const { file, state, progress, failure = 'uploadFailed' } = attachment
  const number = Math.round(progress * 100)
  const label = {
    uploading: texts.uploading,
    ready: texts.uploaded,
    failed: texts[failure],
  }[state]
  return (
    <li className={state}>
      <span>{format(label, { name: file.name, number })}</span>
      {state === 'uploading' && <progress value={progress} max={1} aria-label={file.name} />}
      {state === 'failed' && failure === 'uploadFailed' && (
        <button type="button" className="link" onClick={() => onRetry(attachment)}>
          {texts.retry}
        </button>
      )}
      <button
        type="button"
        className="tool"
        aria-label={format(texts.removeFile, { name: file.name })}
        onClick={() => onRemove(attachment)}
      >
        <Icon name="close" />
      </button>
      {/* Screen readers announce the end of the upload, not its progress. */}
      <span className="visually-hidden" role="status">
        {state === 'uploading' ? '' : format(label, { name: file.name })}
      </span>
    </li>
  )
}
