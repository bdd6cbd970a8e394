import { useAddressSearch, useScope } from '../../api/address.js'
import { type EntryKind, useTimeline } from '../../api/timeline.js'
import { Unread } from '../../ui/states.js'
import { Transcript } from '../../ui/transcript/transcript.js'
import { useReplay } from './queries.js'
import styles from './try.module.css'

const everyKind: readonly EntryKind[] = [
  'message',
  'deletion',
  'participant',
  'customEvent',
  'event',
  'workflow',
  'state',
  'change',
  'log',
]

/** The work of the server for a chat: deliveries, events and log lines. */
export function Trace({ botId, conversationId }: { botId: string; conversationId: string }) {
  const { workspaceId } = useScope()
  const [{ message }, change] = useAddressSearch()
  const replay = useReplay(botId)
  const scope = { workspaceId }
  const timeline = useTimeline({ scope, id: conversationId, kinds: everyKind, hasSignals: false })
  const { query, window } = timeline
  if (window === undefined) {
    return <Unread {...query} />
  }
  if (window.entries.length === 0) {
    return <p className={styles.hint}>Deliveries, events and log lines appear here.</p>
  }
  return (
    <Transcript
      timeline={timeline}
      botId={botId}
      isRaw={false}
      isBrief
      marked={message}
      replay={async (deliveryId) => {
        await replay(deliveryId)
        await timeline.renew()
      }}
      toEnd={() => change({ message: undefined })}
    />
  )
}
