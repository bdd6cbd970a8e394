import { isComposing } from '@botstead/contract/composing'
import { SendHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.js'
import { noteFailure } from './toasts.js'
import styles from './write-box.module.css'

interface WriteBoxProps {
  placeholder: string
  /** Text on the button. */
  submit: string
  /** Id of what says where the message goes. */
  describedBy?: string
  /** Whether writing can begin at once. */
  isFocused?: boolean
  text: string
  change: (text: string) => void
  /** Sends the text; what fails is noted, and the text stays. */
  send: (text: string) => Promise<unknown>
}

/** A box to write a message in. Enter sends, Shift Enter begins a new line. */
export function WriteBox({
  placeholder,
  submit,
  describedBy,
  isFocused = false,
  text,
  change,
  send,
}: WriteBoxProps) {
  const [isBusy, setBusy] = useState(false)
  const isEmpty = text.trim() === ''
  const trySend = () => {
    if (isEmpty || isBusy) return
    setBusy(true)
    send(text)
      .then(() => change(''), noteFailure)
      .finally(() => setBusy(false))
  }
  return (
    <form
      className={styles.box}
      onSubmit={(event) => {
        event.preventDefault()
        trySend()
      }}
    >
      <textarea
        aria-label="Message"
        aria-describedby={describedBy}
        placeholder={placeholder}
        rows={1}
        // biome-ignore lint/a11y/noAutofocus: only where the reader just chose to write
        autoFocus={isFocused}
        maxLength={100_000}
        value={text}
        onChange={({ target }) => change(target.value)}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return
          if (event.key === 'Escape') event.currentTarget.blur()
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          trySend()
        }}
      />
      <Button
        type="submit"
        kind="primary"
        icon={<SendHorizontal size={14} />}
        isBusy={isBusy}
        disabled={isEmpty}
        title="Enter sends, Shift Enter begins a new line"
      >
        {submit}
      </Button>
    </form>
  )
}
