import { Button } from '../../ui/button.js'
import { formatNumber } from '../../ui/numbers.js'
import { useRemembered } from '../../ui/remembered.js'
import { Status, type StatusKind } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { noteFailure } from '../../ui/toasts.js'
import styles from './deliveries.module.css'
import { Panel } from './panel.js'
import { type Replay, useDeliveryActions, useReplays } from './queries.js'

const states: Record<Replay['state'], { kind: StatusKind; word: string }> = {
  running: { kind: 'working', word: 'Replaying' },
  done: { kind: 'done', word: 'Replayed' },
  canceled: { kind: 'off', word: 'Replay canceled' },
  failed: { kind: 'attention', word: 'Replay failed' },
}

/** Replays of many deliveries that run, and the last one that ended, until somebody dismisses it. */
export function Replays() {
  const replays = useReplays()
  const { cancelReplay } = useDeliveryActions()
  const [seen, setSeen] = useRemembered('time of the last replay that was seen', '')
  const last = replays.find(({ state, createdAt }) => state !== 'running' && createdAt > seen)
  const shown = replays.filter((replay) => replay.state === 'running' || replay === last)
  if (shown.length === 0) return null
  return (
    <Panel title="Replays" label="Replays">
      <ul>
        {shown.map((replay) => (
          <li key={replay.id}>
            <Progress replay={replay} />
            {replay.state === 'running' ? (
              <Button onClick={() => cancelReplay(replay.id).catch(noteFailure)}>Cancel</Button>
            ) : (
              <Button onClick={() => setSeen(replay.createdAt)}>Dismiss</Button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Progress({ replay }: { replay: Replay }) {
  const { state, total, totalIsExact, replayed, skipped, done, failedAgain } = replay
  const { kind, word } = states[state]
  const parts = [
    `${formatNumber(done)} delivered`,
    failedAgain > 0 && `${formatNumber(failedAgain)} failed again`,
    replay.waiting > 0 && `${formatNumber(replay.waiting)} waiting`,
    replay.canceled > 0 && `${formatNumber(replay.canceled)} canceled`,
    skipped > 0 && `${formatNumber(skipped)} skipped`,
  ].filter((part) => part !== false)
  return (
    <div className={styles.receiver} role="status">
      <Status kind={kind}>{word}</Status>{' '}
      <span className="muted">
        <Time at={replay.createdAt} />
      </span>
      {state === 'running' && (
        <progress
          className={styles.progress}
          aria-label="Progress of the replay"
          max={Math.max(1, total)}
          value={replayed + skipped - replay.waiting}
        />
      )}
      <div className="muted">
        {formatNumber(replayed)} of {totalIsExact ? '' : 'at least '}
        {formatNumber(total)} replayed: {parts.join(', ')}.{' '}
        {replay.error !== undefined && replay.error}
      </div>
    </div>
  )
}
