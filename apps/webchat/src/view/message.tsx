import { memo, useState } from 'react'
import type { Feedback, Message, User } from '../client/api.js'
import { clientIdOf, type Outgoing } from '../client/state.js'
import { type Language, languageOf } from '../shared/appearance.js'
import { format, type Translation } from '../translations/index.js'
import { useChat, useChatState, useTranslation } from './context.js'
import { Icon } from './icon.js'
import type { Choose } from './options.js'
import { PayloadView } from './payload.js'

interface MessageProps {
  message: Message
  answer: string | undefined
  onChoose: Choose
}

/** A message of the bot, of an agent who replies in its place, or of the user. */
export function MessageView(props: MessageProps) {
  const texts = useTranslation()
  const { message } = props
  const { user, participants, configuration } = useChatState()
  const language = languageOf(configuration)
  if (message.userId === user?.id) {
    return (
      <div className="message own">
        <span className="visually-hidden">{texts.youSaid}</span>
        <Bubble {...props} language={language} />
        <Outcome message={message} />
      </div>
    )
  }
  const author = authorOf(message, participants, texts)
  return (
    <div className="message">
      <span className={author === undefined ? 'visually-hidden' : 'author'}>
        {author ?? format(texts.said, { name: configuration.botName ?? '' })}
      </span>
      <Bubble {...props} language={language} />
      {configuration.feedbackEnabled === true && <FeedbackButtons message={message} />}
    </div>
  )
}

/** The outcome of a message of the user: of the newest one, and of those whose delivery was given up. */
function Outcome({ message }: { message: Message }) {
  const texts = useTranslation()
  const { user, messages, outcomes } = useChatState()
  const outcome = outcomes.get(message.id) ?? outcomes.get(clientIdOf(message) ?? '')
  const next = messages[messages.indexOf(message) + 1]
  if (outcome === 'failed') {
    // A bot may answer before it fails.
    return next === undefined || next.userId === user?.id ? <Note>{texts.notAnswered}</Note> : null
  }
  if (next !== undefined) return null
  return <Note>{outcome === 'delivered' ? texts.delivered : texts.sent}</Note>
}

/**
 * The name of whoever wrote a message; undefined for the bot. A user who has left must not look like the bot.
 */
export function authorOf(
  { userId, fromBot }: Message,
  participants: readonly User[],
  texts: Translation,
): string | undefined {
  const author = participants.find(({ id }) => id === userId)
  if (author === undefined) return fromBot === false ? texts.formerUser : undefined
  return author.name ?? texts.agent
}

interface BubbleProps extends MessageProps {
  /** Of the chat: that of the page may be no valid tag, such as `en_US`. */
  language: Language
}

const Bubble = memo(function Bubble({ message, answer, onChoose, language }: BubbleProps) {
  const { payload, createdAt } = message
  const time = new Date(createdAt)
  const title = Number.isNaN(time.getTime()) ? undefined : time.toLocaleString(language)
  return (
    <div className="bubble" data-type={payload.type} title={title}>
      <PayloadView payload={payload} answer={answer} onChoose={onChoose} />
    </div>
  )
})

/** A message that the server has not confirmed, or has refused. */
export function OutgoingView({ message }: { message: Outgoing }) {
  const texts = useTranslation()
  const { outbox } = useChat().session
  const { connection } = useChatState()
  const { refusal, clientMessageId, payload } = message
  return (
    <div className="message own outgoing">
      <span className="visually-hidden">{texts.youSaid}</span>
      <div className="bubble" data-type={payload.type}>
        <PayloadView payload={payload} onChoose={() => {}} />
      </div>
      {refusal === undefined ? (
        <Note>{connection === 'open' ? texts.sending : texts.willSend}</Note>
      ) : (
        <div className="note refusal">
          {format(texts.notSent, { name: refusal || texts.notAnswered })}{' '}
          <button type="button" className="link" onClick={() => outbox.retry(clientMessageId)}>
            {texts.retry}
          </button>{' '}
          <button type="button" className="link" onClick={() => outbox.discard(clientMessageId)}>
            {texts.discard}
          </button>
        </div>
      )}
    </div>
  )
}

function Note({ children }: { children: string }) {
  return <div className="note">{children}</div>
}

/** Two buttons that rate a message; pressing the active one again removes the feedback. */
function FeedbackButtons({ message }: { message: Message }) {
  const texts = useTranslation()
  const { session } = useChat()
  const [failure, setFailure] = useState('')
  const rated = message.feedback?.value
  const rate = (value: Feedback) => {
    setFailure('')
    session
      .rate(message.id, rated === value ? undefined : value)
      .catch((error: Error) => setFailure(error.message))
  }
  const thumb = (value: Feedback, label: string, icon: 'up' | 'down') => (
    <button
      type="button"
      className="thumb"
      aria-label={label}
      title={label}
      aria-pressed={rated === value}
      onClick={() => rate(value)}
    >
      <Icon name={icon} />
    </button>
  )
  return (
    <div className="thumbs">
      {thumb('positive', texts.helpful, 'up')}
      {thumb('negative', texts.notHelpful, 'down')}
      {failure !== '' && (
        <span role="alert" className="note">
          {format(texts.failed, { name: failure })}
        </span>
      )}
    </div>
  )
}
