import type { WebchatSettings } from '@botstead/contract'
import { useEffect, useRef, useState } from 'react'
import { serverUrl } from '../../../api/client.js'
import styles from './webchat.module.css'

/** The real chat with settings that are not saved, in a frame that stores nothing and asks no bot. */
export function Preview({ webhookId, settings }: { webhookId: string; settings: WebchatSettings }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    const hear = ({ source, origin, data }: MessageEvent) => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return
      if (data?.type === 'webchat-preview-ready') setReady(true)
    }
    window.addEventListener('message', hear)
    return () => window.removeEventListener('message', hear)
  }, [])
  useEffect(() => {
    if (!isReady) return
    const message = { type: 'webchat-preview-settings', settings }
    frame.current?.contentWindow?.postMessage(message, location.origin)
  }, [isReady, settings])
  return (
    <section className={styles.preview} aria-label="Preview">
      <h2>Preview</h2>
      <iframe
        ref={frame}
        title="Preview of the web chat"
        src={`${serverUrl}/webchat/${webhookId}/preview`}
      />
    </section>
  )
}
