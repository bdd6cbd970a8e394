import { useEffect, useState } from 'react'
import { fill } from '../words/index.js'
import { useChatState, useWords } from './context.js'
import { textOf } from './payload-values.js'

/** Milliseconds without a change after which a message counts as complete. */
const calm = 1000

/** Says new messages to those who do not see them, each once: not every piece of one that is still growing. */
export function Announcer() {
  const words = useWords()
  const { messages, newestAtOpen, user, participants, configuration, isOpen, conversation } =
    useChatState()
  const [said, setSaid] = useState('')
  const [known, setKnown] = useState<{ conversation: string; id: string }>()
  const last = messages.at(-1)
  const id = conversation?.id
  useEffect(() => {
    if (last === undefined || id === undefined) return
    // What was there when the chat opened can be read, and is not news.
    const before = known?.conversation === id ? known.id : newestAtOpen
    if (before === last.id || last.userId === user?.id || !isOpen) return
    const timer = setTimeout(() => {
      const author = participants.find((each) => each.id === last.userId)
      const name = author?.name ?? configuration.botName ?? ''
      setSaid(`${fill(words.said, { name })} ${textOf(last.payload) ?? words.unknown}`)
      setKnown({ conversation: id, id: last.id })
    }, calm)
    return () => clearTimeout(timer)
  }, [last, id, known, newestAtOpen, user, participants, configuration, isOpen, words])
  return (
    <div className="sr" role="status">
      {said}
    </div>
  )
}
