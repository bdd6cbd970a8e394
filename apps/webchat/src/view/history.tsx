import { textOf } from '@botstead/chat-view'
import { useEffect, useRef, useState } from 'react'
import type { Conversation } from '../client/api.js'
import { languageOf } from '../shared/appearance.js'
import { format } from '../translations/index.js'
import { useChat, useChatState, useTranslation } from './context.js'

/** The conversations of the user, newest first; pressing one opens it. */
export function History({ onDone }: { onDone(): void }) {
  const texts = useTranslation()
  const { session } = useChat()
  const { conversation, configuration } = useChatState()
  const [list, setList] = useState<readonly Conversation[]>()
  const [nextToken, setNextToken] = useState<string>()
  const [failure, setFailure] = useState('')
  const heading = useRef<HTMLHeadingElement>(null)

  const load = async (token?: string) => {
    setFailure('')
    try {
      const { conversations, meta } = await session.api.listConversations(token)
      setList((known = []) => (token === undefined ? conversations : [...known, ...conversations]))
      setNextToken(meta?.nextToken)
    } catch (error) {
      setFailure((error as Error).message)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is opened
  useEffect(() => {
    heading.current?.focus()
    void load()
  }, [])

  const shown = list?.filter(
    ({ id, lastMessage }) => lastMessage !== undefined || id === conversation?.id,
  )
  const language = languageOf(configuration)
  return (
    <div className="history">
      <h3 ref={heading} tabIndex={-1}>
        {texts.history}
      </h3>
      {failure !== '' && (
        <p role="alert">
          {format(texts.failed, { name: failure })}{' '}
          <button type="button" className="link" onClick={() => void load()}>
            {texts.retry}
          </button>
        </p>
      )}
      {shown?.length === 0 && <p>{texts.noHistory}</p>}
      <ul>
        {shown?.map(({ id, lastMessage, updatedAt }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === conversation?.id}
              onClick={() => {
                if (id !== conversation?.id) session.openConversation(id)
                onDone()
              }}
            >
              <span className="last">{textOf(lastMessage?.payload) ?? texts.untitled}</span>
              <span className="when">
                {dateOf(lastMessage?.createdAt ?? updatedAt, language)}
                {id === conversation?.id && ` (${texts.current})`}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {nextToken !== undefined && (
        <button type="button" className="option" onClick={() => void load(nextToken)}>
          {texts.more}
        </button>
      )}
    </div>
  )
}

function dateOf(time: string | undefined, language: string): string {
  const date = new Date(time ?? '')
  if (Number.isNaN(date.getTime())) return ''
  return date.toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })
}
