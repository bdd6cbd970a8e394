import { useEffect, useState, useSyncExternalStore } from 'react'
import { format } from '../translations/index.js'
import { useChat, useChatState, useTranslation } from './context.js'

/**
 * The state of the connection, and whether the conversation is a new one because the earlier one is gone: shown, and
 * announced to screen readers. While all is well, it is only announced.
 */
export function Status() {
  const texts = useTranslation()
  const { session } = useChat()
  const { connection, wasOpen, refusal, isReplacement } = useChatState()
  const isOnline = useOnline()
  const [wasBroken, setBroken] = useState(false)
  useEffect(() => {
    if (connection === 'waiting' || connection === 'refused') setBroken(true)
  }, [connection])

  const text = () => {
    if (connection === 'open' && isReplacement) return texts.replaced
    if (connection === 'open') return wasBroken ? texts.connected : ''
    if (!isOnline) return texts.offline
    if (connection === 'refused') return format(texts.refused, { name: refusal ?? '' })
    return connection === 'connecting' && !wasOpen && !wasBroken ? texts.connecting : texts.waiting
  }
  const isConnected = connection === 'open'
  return (
    <div className={isConnected && !isReplacement ? 'visually-hidden' : 'status'}>
      <span role="status">{text()}</span>
      {!isConnected && connection !== 'connecting' && (
        <button type="button" className="link" onClick={() => session.reconnect()}>
          {texts.retry}
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
