import type { Timeline } from '../../api/timeline.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import styles from './conversations.module.css'

/** The deliveries about the conversation that are not finished, below its end. */
export function PendingDeliveries({ timeline }: { timeline: Timeline }) {
  const pending = (timeline.window?.entries ?? [])
    .flatMap((entry) => ('deliveries' in entry ? entry.deliveries : []))
    .filter(({ status }) => status === 'pending')
  const [first] = pending
  if (first === undefined || !timeline.isLive) return null
  const receiver = first.integration ?? 'the bot'
  const count = pending.length === 1 ? 'One delivery' : `${pending.length} deliveries`
  const isWorking = first.isInProgress || first.attempts === 0
  return (
    <div className={styles.pending} role="status">
      <Status kind={isWorking ? 'working' : 'waiting'}>
        {isWorking
          ? `Notifying ${receiver}`
          : `${count} to ${receiver} ${pending.length === 1 ? 'waits' : 'wait'}`}
      </Status>{' '}
      {!isWorking && `Attempt ${first.attempts} failed. `}
      {!isWorking && first.nextAttemptAt !== undefined && (
        <>
          Next attempt <Time at={first.nextAttemptAt} />
        </>
      )}
    </div>
  )
}
