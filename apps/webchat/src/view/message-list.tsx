import { isFilled, readContent } from '@botstead/chat-view'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Message } from '../client/api.js'
import { type ChatState, clientIdOf, type Outgoing } from '../client/state.js'
import { format } from '../translations/index.js'
import { useChat, useChatState, useTranslation } from './context.js'
import { Markdown } from './markdown.js'
import { MessageView, OutgoingView } from './message.js'
import type { Choose } from './options.js'

/** Pixels from the end within which the list counts as scrolled to its end. */
const endTolerance = 60

/** The messages, oldest first. A list that is scrolled to its end stays there when messages are added. */
export function MessageList() {
  const texts = useTranslation()
  const state = useChatState()
  const { session } = useChat()
  const { messages, outgoing, isTyping, configuration, conversation } = state
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const [hasNewMessages, setHasNewMessages] = useState(false)
  const scrollToEnd = () => {
    const element = box.current
    if (element !== null) element.scrollTop = element.scrollHeight
    setHasNewMessages(false)
  }
  const last = messages.at(-1)?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new conversation begins at its end
  useLayoutEffect(() => {
    isAtEnd.current = true
    scrollToEnd()
  }, [conversation?.id])
  // Sending a message scrolls to it.
  useLayoutEffect(() => {
    if (outgoing.length > 0) isAtEnd.current = true
  }, [outgoing.length])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when anything in the list changes
  useLayoutEffect(() => {
    if (isAtEnd.current) scrollToEnd()
    else setHasNewMessages(true)
  }, [last, outgoing, isTyping, state.isOpen])
  // Loading pictures and growing messages change the height without a new message.
  useEffect(() => {
    const inner = box.current?.firstElementChild
    if (!inner) return
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) scrollToEnd()
    })
    observer.observe(inner)
    return () => observer.disconnect()
  })

  const choose: Choose = (label, value) => {
    isAtEnd.current = true
    session.outbox.add({ type: 'text', text: label, ...(value !== undefined && { value }) })
  }
  const { greeting, botDescription, suggestedQuestions = [] } = configuration
  const hasWritten = outgoing.length > 0 || messages.some(({ userId }) => userId === state.user?.id)
  return (
    <div className="log-box">
      <div
        ref={box}
        className="log"
        role="log"
        // `Announcer` announces new messages, once they are complete.
        aria-live="off"
        aria-label={texts.messages}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - clientHeight - scrollTop < endTolerance
          if (isAtEnd.current) setHasNewMessages(false)
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
          {!hasWritten && suggestedQuestions.length > 0 && (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset brings styles that differ between browsers
            <div className="options suggestions" role="group" aria-label={texts.suggestions}>
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
      {hasNewMessages && (
        <button type="button" className="new-messages" onClick={scrollToEnd}>
          {texts.newMessages}
        </button>
      )}
    </div>
  )
}

function Typing() {
  const texts = useTranslation()
  const { configuration } = useChatState()
  return (
    <div className="message">
      <div className="bubble typing">
        <span className="visually-hidden">
          {format(texts.typing, { name: configuration.botName ?? '' })}
        </span>
        <i />
        <i />
        <i />
      </div>
    </div>
  )
}

/** The label of the option that was chosen: the next message of the user, if it equals one of the labels. */
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

function labelsOf(payload: Message['payload'] | undefined): string[] {
  if (payload?.type !== 'choice' && payload?.type !== 'dropdown') return []
  const content = readContent(payload)
  return content.kind === 'options' ? content.options.map(({ label }) => label) : []
}
