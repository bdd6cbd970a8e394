import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { Button } from '../../ui/button.js'
import { Name } from '../../ui/name.js'
import { ShowMore } from '../../ui/show-more.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import styles from './deliveries.module.css'
import { receiverOf } from './describe.js'
import { Panel } from './panel.js'
import { type Receiver, useDeliveryActions, useReceivers } from './queries.js'

/** Receivers that are shown at first. */
const few = 3

/** The receivers that fail or are paused, with the reason, to be paused and resumed. */
export function Receivers() {
  const { query, receivers } = useReceivers()
  const [isWhole, setWhole] = useState(false)
  if (receivers.length === 0) return null
  const shown = isWhole ? receivers : receivers.slice(0, few)
  return (
    <Panel
      title={
        receivers.length === 1
          ? 'One receiver fails or is paused'
          : `${query.hasNextPage ? 'More than ' : ''}${receivers.length} receivers fail or are paused`
      }
      label="Receivers that fail or are paused"
    >
      <ul>
        {shown.map((receiver) => (
          <li key={`${receiver.botId} ${receiver.integration ?? ''}`}>
            <ReceiverState receiver={receiver} />
          </li>
        ))}
      </ul>
      {receivers.length > few && (
        <Button kind="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show all ${receivers.length}`}
        </Button>
      )}
      {isWhole && <ShowMore query={query} />}
    </Panel>
  )
}

function ReceiverState({ receiver }: { receiver: Receiver }) {
  const { paused, pausedAt, reason, failures, failingSince, nextPingAt, oldestWaiting } = receiver
  const { nameOf } = useBotNames()
  const { pause, resume } = useDeliveryActions()
  const pathTo = usePathTo()
  const name = receiverOf(receiver, nameOf)
  return (
    <>
      <div className={styles.receiver}>
        <strong>
          <Name>{name}</Name>
        </strong>{' '}
        {paused === undefined ? (
          <Status kind="attention">Failing</Status>
        ) : (
          <Status kind="off">{paused === 'operator' ? 'Paused by hand' : 'Paused'}</Status>
        )}
        {reason !== undefined && <div>{reason}</div>}
        <div className={`muted ${styles.facts}`}>
          {failures > 0 && failingSince !== undefined && (
            <span>
              {failures === 1 ? 'One failure' : `${failures} failures`}, the first{' '}
              <Time at={failingSince} />
            </span>
          )}
          {pausedAt !== undefined && (
            <span>
              Paused <Time at={pausedAt} />
            </span>
          )}
          {nextPingAt !== undefined && (
            <span>
              Next ping <Time at={nextPingAt} />
            </span>
          )}
          {oldestWaiting !== undefined && (
            <span>
              Oldest waiting delivery:{' '}
              <Link to={pathTo('deliveries', oldestWaiting.id)}>
                <Time at={oldestWaiting.createdAt} />
              </Link>
            </span>
          )}
        </div>
      </div>
      {paused === undefined ? (
        <Button
          aria-label={`Pause deliveries to ${name}`}
          onClick={() => {
            pause(receiver).then(
              () =>
                note(`Deliveries to ${name} are paused.`, () => {
                  resume(receiver).catch(noteFailure)
                }),
              noteFailure,
            )
          }}
        >
          Pause
        </Button>
      ) : (
        <Button
          aria-label={`Resume deliveries to ${name}`}
          onClick={() => {
            resume(receiver).then(() => note(`Deliveries to ${name} go on.`), noteFailure)
          }}
        >
          Resume
        </Button>
      )}
    </>
  )
}
