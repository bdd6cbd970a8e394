import { useEffect, useState } from 'react'
import { useAddressSearch, useScope } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { useTimeline } from '../../api/timeline.js'
import { Button } from '../../ui/button.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import { Transcript } from '../../ui/transcript/transcript.js'
import { Composer } from './composer.js'
import styles from './conversations.module.css'
import { Layers, shownKinds, showsDeliveries } from './layers.js'
import { PendingDeliveries } from './pending-deliveries.js'
import { type ConversationSummary, useConversationActions } from './queries.js'

/** The transcript of a conversation with its layers, and the box that writes into it. */
export function Conversation({ conversation }: { conversation: ConversationSummary }) {
  const { id, botId } = conversation
  const { workspaceId } = useScope()
  const [{ message, view, hide = '' }, change] = useAddressSearch()
  const mayWrite = useMay()('conversations:write')
  const kinds = shownKinds(hide)
  const [around, setAround] = useState(message)
  const timeline = useTimeline({ scope: { workspaceId }, id, kinds, around })
  const { replay } = useConversationActions(botId)
  const { query, window } = timeline
  // A link to a message that is not loaded opens the part around it; leaving it opens the end.
  useEffect(() => {
    if (window === undefined) return
    const isLoaded = window.entries.some((entry) => entry.id === message)
    if (message === undefined ? window.nextToken !== undefined : !isLoaded) setAround(message)
  }, [message, window])
  return (
    <div className={styles.conversation}>
      <Layers
        hide={hide}
        change={(next) => change({ hide: next }, { replace: true })}
        isRaw={view === 'raw'}
        toggleRaw={() => change({ view: view === 'raw' ? undefined : 'raw' }, { replace: true })}
      />
      {window === undefined ? (
        query.error === null ? (
          <Skeleton lines={8} />
        ) : (
          <>
            <ErrorPanel error={query.error} retry={() => void query.refetch()} />
            {message !== undefined && (
              <div className={styles.part}>
                <Button
                  onClick={() => {
                    setAround(undefined)
                    change({ message: undefined })
                  }}
                >
                  Show the end of the conversation
                </Button>
              </div>
            )}
          </>
        )
      ) : window.entries.length === 0 ? (
        <div className={styles.conversation}>
          <Empty>
            Nothing was written in this conversation yet.{mayWrite && ' Write in the box below.'}
          </Empty>
        </div>
      ) : (
        <Transcript
          key={`${around} ${hide}`}
          timeline={timeline}
          botId={botId}
          isRaw={view === 'raw'}
          hasDeliveries={showsDeliveries(hide)}
          marked={message}
          replay={async (deliveryId) => {
            await replay(deliveryId)
            await timeline.renew()
          }}
          toEnd={() => change({ message: undefined })}
        />
      )}
      <PendingDeliveries timeline={timeline} />
      {mayWrite && <Composer conversation={conversation} onWritten={() => timeline.renew()} />}
    </div>
  )
}
