import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Message } from '../client/api.js'
import { type ChatState, clientIdOf, type Outgoing } from '../client/state.js'
import { fill } from '../words/index.js'
import { useChat, useChatState, useWords } from './context.js'
import { Markdown } from './markdown.js'
import { MessageView, OutgoingView } from './message.js'
import type { Choose } from './payload.js'
import { isFilled, objectsIn } from './payload-values.js'

/** Pixels from the end within which a reader is at the end. */
const nearEnd = 60

/** What was said, oldest first. It stays at the end as long as the reader is there. */
export function MessageList() {
  const words = useWords()
  const state = useChatState()
  const { session } = useChat()
  const { messages, outgoing, isTyping, configuration, conversation } = state
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const [hasNews, setNews] = useState(false)
  const toEnd = () => {
    const element = box.current
    if (element !== null) element.scrollTop = element.scrollHeight
    setNews(false)
  }
  const last = messages.at(-1)?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new conversation begins at its end
  useLayoutEffect(() => {
    isAtEnd.current = true
    toEnd()
  }, [conversation?.id])
  // What one writes oneself is looked at.
  useLayoutEffect(() => {
    if (outgoing.length > 0) isAtEnd.current = true
  }, [outgoing.length])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when any of what is shown changes
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd()
    else setNews(true)
  }, [last, outgoing, isTyping, state.isOpen])
  // Pictures and texts that grow change the height without a new message.
  useEffect(() => {
    const inner = box.current?.firstElementChild
    if (!inner) return
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) toEnd()
    })
    observer.observe(inner)
    return () => observer.disconnect()
  })

  const choose: Choose = (label, value) => {
    isAtEnd.current = true
    session.outbox.add({ type: 'text', text: label, ...(value !== undefined && { value }) })
  }
  const { greeting, botDescription, suggestedQuestions = [] } = configuration
  const isFresh = outgoing.length === 0 && !messages.some(({ userId }) => userId === state.user?.id)
  return (
    <div className="log-box">
      <div
        ref={box}
        className="log"
        role="log"
        // What is new is said once it is complete, by `Announcer`.
        aria-live="off"
        aria-label={words.messages}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - clientHeight - scrollTop < nearEnd
          if (isAtEnd.current) setNews(false)
        }}
      >
        <div className="messages">
          {isFilled(botDescription) && <p className="description">{botDescription}</p>}
          {isFilled(greeting) && (
            <div className="message">
              <div className="bubble">
                <Markdown text={greeting} />
              </div>
            </div>
          )}
          {messages.map((message, index) => (
            <MessageView
              key={`${message.userId} ${clientIdOf(message) ?? message.id}`}
              message={message}
              answer={answerTo(state, index)}
              onChoose={choose}
            />
          ))}
          {outgoing.map((message) => (
            <OutgoingView key={message.clientMessageId} message={message} />
          ))}
          {isTyping && <Typing />}
          {isFresh && suggestedQuestions.length > 0 && (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset brings styles that differ between browsers
            <div className="options suggestions" role="group" aria-label={words.suggestions}>
              {suggestedQuestions.map((question) => (
                <button
                  key={question}
                  type="button"
                  className="option"
                  onClick={() => session.outbox.add({ type: 'text', text: question })}
                >
                  {question}
                </button>
              ))}
            </div>
          )}
        </div>
      </div>
      {hasNews && (
        <button type="button" className="news" onClick={toEnd}>
          {words.newMessages}
        </button>
      )}
    </div>
  )
}

function Typing() {
  const words = useWords()
  const { configuration } = useChatState()
  return (
    <div className="message">
      <div className="bubble typing">
        <span className="sr">{fill(words.typing, { name: configuration.botName ?? '' })}</span>
        <i />
        <i />
        <i />
      </div>
    </div>
  )
}

/** Which option of a message was chosen: what its reader said next, if it was one of them. */
function answerTo({ messages, outgoing, user }: ChatState, index: number): string | undefined {
  const payload = messages[index]?.payload
  const labels = labelsOf(payload)
  if (labels.length === 0) return undefined
  const later: readonly (Message | Outgoing)[] = [
    ...messages.slice(index + 1).filter(({ userId }) => userId === user?.id),
    ...outgoing,
  ]
  const text = later[0]?.payload.text
  return isFilled(text) && labels.includes(text) ? text : undefined
}

function labelsOf(payload: Message['payload'] | undefined): unknown[] {
  if (payload === undefined) return []
  if (payload.type === 'choice' || payload.type === 'dropdown') {
    return objectsIn(payload.options).map(({ label }) => label)
  }
  return []
}
