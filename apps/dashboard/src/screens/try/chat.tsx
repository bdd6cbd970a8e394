import { toText } from '@botstead/chat-view'
import { useEffect, useRef, useState } from 'react'
import { Payload } from '../../ui/payload/payload.js'
import { ErrorPanel } from '../../ui/states.js'
import { noteFailure } from '../../ui/toasts.js'
import { WriteBox } from '../../ui/write-box.js'
import { textOf } from './chat-state.js'
import type { Guest } from './queries.js'
import styles from './try.module.css'
import { useChat } from './use-chat.js'

/** Pixels from the end at which the newest message counts as shown. */
const endThreshold = 60

/** The chat as the user sees it: options and buttons can be pressed. */
export function Chat({ guest, botId }: { guest: Guest; botId: string }) {
  const { messages, writing, error, say } = useChat(guest)
  const [text, setText] = useState('')
  const scroller = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  const content = `${messages.length} ${[...writing.values()].map(textOf).join(' ').length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content is what grows
  useEffect(() => {
    if (isAtEnd.current) scroller.current?.scrollTo(0, scroller.current.scrollHeight)
  }, [content])
  const choose = (label: string, value: unknown) =>
    void say(value === undefined ? label : toText(value)).catch(noteFailure)
  return (
    <div className={styles.chat}>
      {error !== undefined && <ErrorPanel error={error} />}
      <section
        ref={scroller}
        aria-label="Chat"
        className={styles.messages}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < endThreshold
        }}
      >
        <ol aria-live="polite">
          {messages.map(({ id, userId, payload }) => (
            <li key={id} className={userId === botId ? styles.bot : styles.user}>
              <span className="visually-hidden">{userId === botId ? 'Bot' : 'You'}</span>
              <Payload payload={payload} onChoose={userId === botId ? choose : undefined} />
            </li>
          ))}
          {[...writing].map(([id, pieces]) => (
            <li key={id} className={styles.bot} aria-busy="true">
              <span className="visually-hidden">The bot is writing</span>
              <Payload payload={{ type: 'text', text: textOf(pieces) }} />
            </li>
          ))}
        </ol>
        {messages.length === 0 && <p className="muted">Say something to the bot.</p>}
      </section>
      <div className={styles.box}>
        <WriteBox
          placeholder="Write to the bot"
          submit="Send"
          isFocused
          text={text}
          change={setText}
          send={say}
        />
      </div>
    </div>
  )
}
