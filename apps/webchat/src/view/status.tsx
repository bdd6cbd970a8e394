import { useEffect, useState, useSyncExternalStore } from 'react'
import { fill } from '../words/index.js'
import { useChat, useChatState, useWords } from './context.js'

/** The state of the connection in words, seen and said; nothing to see while all is well. */
export function Status() {
  const words = useWords()
  const { session } = useChat()
  const { connection, wasOpen, refusal } = useChatState()
  const isOnline = useOnline()
  const [wasBroken, setBroken] = useState(false)
  useEffect(() => {
    if (connection === 'waiting' || connection === 'refused') setBroken(true)
  }, [connection])

  const text = () => {
    if (connection === 'open') return wasBroken ? words.connected : ''
    if (!isOnline) return words.offline
    if (connection === 'refused') return fill(words.refused, { name: refusal ?? '' })
    return connection === 'connecting' && !wasOpen && !wasBroken ? words.connecting : words.waiting
  }
  const isWell = connection === 'open'
  return (
    <div className={isWell ? 'sr' : 'status'}>
      <span role="status">{text()}</span>
      {!isWell && connection !== 'connecting' && (
        <button type="button" className="link" onClick={() => session.reconnect()}>
          {words.retry}
        </button>
      )}
    </div>
  )
}

function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      addEventListener('online', listener)
      addEventListener('offline', listener)
      return () => {
        removeEventListener('online', listener)
        removeEventListener('offline', listener)
      }
    },
    () => navigator.onLine,
  )
}
