import { textOf } from '@botstead/chat-view'
import { useEffect, useState } from 'react'
import { format } from '../translations/index.js'
import { useChatState, useTranslation } from './context.js'
import { authorOf } from './message.js'

/** Milliseconds without a change after which a message counts as complete. */
const quietPeriodMs = 1000

/** Announces new messages to screen readers, each once: not every update of one that is still growing. */
export function Announcer() {
  const texts = useTranslation()
  const { messages, newestAtOpen, user, participants, configuration, isOpen, conversation } =
    useChatState()
  const [announcement, setAnnouncement] = useState('')
  const [announced, setAnnounced] = useState<{ conversation: string; id: string }>()
  const last = messages.at(-1)
  const id = conversation?.id
  useEffect(() => {
    if (last === undefined || id === undefined) return
    // Messages that were there when the chat opened are in the list, and are not announced.
    const before = announced?.conversation === id ? announced.id : newestAtOpen
    if (before === last.id || last.userId === user?.id || !isOpen) return
    const timer = setTimeout(() => {
      const name = authorOf(last, participants, texts) ?? configuration.botName ?? ''
      setAnnouncement(`${format(texts.said, { name })} ${textOf(last.payload) ?? texts.unknown}`)
      setAnnounced({ conversation: id, id: last.id })
    }, quietPeriodMs)
    return () => clearTimeout(timer)
  }, [last, id, announced, newestAtOpen, user, participants, configuration, isOpen, texts])
  return (
    <div className="visually-hidden" role="status">
      {announcement}
    </div>
  )
}
