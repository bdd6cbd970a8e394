import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { usePathTo, useScope } from '../../api/address.js'
import { read } from '../../api/queries.js'
import type { TimelineDelivery } from '../../api/timeline-window.js'
import { Id } from '../copy.js'
import { ScrollBox } from '../scroll-box.js'
import { ErrorPanel, Skeleton } from '../states.js'
import { describeDuration, Time } from '../time.js'
import styles from './transcript.module.css'

interface DeliveryAttemptsProps {
  botId: string
  delivery: TimelineDelivery
}

/** The attempts of a delivery, each with what came back. */
export function DeliveryAttempts({ botId, delivery }: DeliveryAttemptsProps) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const input = { id: botId, deliveryId: delivery.id }
  const query = useQuery(read({ workspaceId }, 'getDelivery', input))
  if (query.data === undefined) {
    return query.error === null ? <Skeleton lines={2} /> : <ErrorPanel error={query.error} />
  }
  const { attemptLog } = query.data.delivery
  return (
    <div className={styles.attempts}>
      <div className={styles.deliveryLine}>
        <Id id={delivery.id} what="id of the delivery" />
        <Link to={pathTo('deliveries', delivery.id)}>Request and response</Link>
      </div>
      {attemptLog.length === 0 && <p className="muted">Nothing was sent yet.</p>}
      <ol className={styles.attemptList}>
        {attemptLog.map(({ number, startedAt, durationMs, status, error, answer }) => (
          <li key={number}>
            <div>
              Attempt {number}, <Time at={startedAt} />, {describeDuration(durationMs)}
              {status !== undefined && `, status ${status}`}
            </div>
            {error !== undefined && <p className={styles.reason}>{error}</p>}
            {answer !== undefined && answer !== '' && (
              <ScrollBox label={`Response of attempt ${number}`} className={styles.answer}>
                <pre>{answer}</pre>
              </ScrollBox>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
