import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/role.js'
import type { TimelineDelivery } from '../../api/timeline-window.js'
import { Button } from '../button.js'
import { Status, type StatusKind } from '../status.js'
import { describeDuration, Time } from '../time.js'
import { noteFailure } from '../toasts.js'
import { DeliveryAttempts } from './delivery-attempts.js'
import styles from './transcript.module.css'

const kinds = {
  pending: 'waiting',
  delivered: 'done',
  failed: 'attention',
  canceled: 'off',
} as const satisfies Record<TimelineDelivery['status'], StatusKind>

interface DeliveriesProps {
  deliveries: readonly TimelineDelivery[]
  botId: string
  /** Whether attempts are shown, by the id of the delivery. */
  isOpen: (id: string) => boolean
  toggle: (id: string) => void
  replay: (id: string) => Promise<unknown>
}

/** The deliveries about an entry: to whom, how long each took, and what failed. */
export function Deliveries({ deliveries, botId, isOpen, toggle, replay }: DeliveriesProps) {
  const mayReplay = useMay()('deliveries:write')
  if (deliveries.length === 0) return null
  return (
    <ul className={styles.deliveries} aria-label="Deliveries">
      {deliveries.map((delivery) => (
        <li
          key={delivery.id}
          className={delivery.status === 'failed' ? styles.failure : styles.delivery}
        >
          <div className={styles.deliveryLine}>
            <button
              type="button"
              className={styles.deliveryName}
              aria-expanded={isOpen(delivery.id)}
              onClick={() => toggle(delivery.id)}
            >
              <Status kind={delivery.isInProgress ? 'working' : kinds[delivery.status]}>
                {describeDelivery(delivery)}
              </Status>
            </button>
            {delivery.nextAttemptAt !== undefined && !delivery.isInProgress && (
              <span className="muted">
                next attempt <Time at={delivery.nextAttemptAt} />
              </span>
            )}
            {delivery.status === 'failed' && mayReplay && (
              <ReplayButton replay={() => replay(delivery.id)} />
            )}
          </div>
          {delivery.lastError !== undefined && delivery.status !== 'delivered' && (
            <p className={styles.reason}>{delivery.lastError}</p>
          )}
          {isOpen(delivery.id) && <DeliveryAttempts botId={botId} delivery={delivery} />}
        </li>
      ))}
    </ul>
  )
}

function ReplayButton({ replay }: { replay: () => Promise<unknown> }) {
  const [isBusy, setBusy] = useState(false)
  return (
    <Button
      icon={<RotateCw size={14} />}
      isBusy={isBusy}
      data-replay
      onClick={() => {
        setBusy(true)
        replay()
          .catch(noteFailure)
          .finally(() => setBusy(false))
      }}
    >
      Replay
    </Button>
  )
}

/** Such as `Delivered to the bot in 87 ms` and `Not delivered to desk after 3 attempts (503)`. */
function describeDelivery(delivery: TimelineDelivery): string {
  const { status, attempts, isInProgress, durationMs, responseStatus, kind, integration } = delivery
  const receiver = integration === undefined ? 'the bot' : integration
  const to = kind === 'signal' ? `the webhook of ${receiver}` : receiver
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  switch (status) {
    case 'delivered': {
      const time = durationMs === undefined ? '' : ` in ${describeDuration(durationMs)}`
      return `Delivered to ${to}${time}${attempts > 1 ? `, ${count}` : ''}`
    }
    case 'failed': {
      const code = responseStatus === undefined ? '' : ` (status ${responseStatus})`
      return `Not delivered to ${to} after ${count}${code}`
    }
    case 'pending':
      if (isInProgress) return `Notifying ${to}, attempt ${attempts}`
      return attempts === 0 ? `Waiting for ${to}` : `Waiting for ${to} after ${count}`
    default:
      return `Not delivered to ${to}: its subject was deleted`
  }
}
