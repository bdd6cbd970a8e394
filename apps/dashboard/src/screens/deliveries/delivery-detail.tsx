import { Link } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { Button } from '../../ui/button.js'
import { curlOf } from '../../ui/commands.js'
import { CopyButton, copyText, Id } from '../../ui/copy.js'
import { Menu } from '../../ui/menu.js'
import { Name } from '../../ui/name.js'
import { Detail, Facts } from '../../ui/page.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { Unread } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { AttemptView } from './attempt.js'
import styles from './deliveries.module.css'
import { contentOf, conversationOf, receiverOf, stateOf } from './describe.js'
import { type DeliveryDetails, useDelivery, useDeliveryActions } from './queries.js'

/** An open delivery with its attempts. */
export function DeliveryDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const { data, error, refetch } = useDelivery(id)
  const delivery = data?.delivery
  return (
    <Detail
      title={delivery === undefined ? id : contentOf(delivery)}
      back={pathTo('deliveries')}
      actions={delivery && <Actions delivery={delivery} />}
    >
      {delivery !== undefined ? (
        <Content delivery={delivery} />
      ) : (
        <Unread error={error} refetch={refetch} />
      )}
    </Detail>
  )
}

function Actions({ delivery }: { delivery: DeliveryDetails }) {
  const { workspaceId } = useScope()
  const { nameOf } = useBotNames()
  const { pause, resume, replay } = useDeliveryActions()
  const [isBusy, setBusy] = useState(false)
  const name = receiverOf(delivery, nameOf)
  const { id, botId, status } = delivery
  const curl = curlOf({
    method: 'POST',
    path: `/v1/admin/bots/${botId}/deliveries/${id}/replay`,
    workspaceId,
  })
  const send = () => {
    setBusy(true)
    replay(delivery)
      .then(() => note('The delivery is sent again.'), noteFailure)
      .finally(() => setBusy(false))
  }
  useShortcuts({
    r: { label: 'Replay the delivery', run: () => status !== 'pending' && !isBusy && send() },
  })
  return (
    <>
      <Button
        icon={<RotateCcw size={14} />}
        isBusy={isBusy}
        disabled={status === 'pending'}
        title={status === 'pending' ? 'It is not finished' : 'Send it again (r)'}
        onClick={send}
      >
        Replay
      </Button>
      <Menu
        label="More actions"
        items={[
          {
            label: 'Copy the call of the replay as curl',
            onSelect: () => void copyText(curl).then(() => note('Copied.')),
          },
          {
            label: `Pause deliveries to ${name}`,
            onSelect: () => {
              pause(delivery).then(
                () =>
                  note(`Deliveries to ${name} are paused.`, () => {
                    resume(delivery).catch(noteFailure)
                  }),
                noteFailure,
              )
            },
          },
        ]}
      />
    </>
  )
}

function Content({ delivery }: { delivery: DeliveryDetails }) {
  const pathTo = usePathTo()
  const { nameOf } = useBotNames()
  const { id, botId, kind, eventType, subjectId, orderKey, createdAt } = delivery
  const { attemptLog, body, lastError } = delivery
  const { kind: state, word } = stateOf(delivery)
  const conversation = conversationOf(delivery)
  const facts: [string, ReactNode][] = [
    [
      'Status',
      <span key="status">
        <Status kind={state}>{word}</Status> <Next delivery={delivery} />
        {lastError !== undefined && <div>{lastError}</div>}
      </span>,
    ],
    [
      'To',
      <Link key="to" to={pathTo('bots', botId)}>
        <Name>{receiverOf(delivery, nameOf)}</Name>
      </Link>,
    ],
    ['Kind', eventType === undefined ? kind : `${eventType} (${kind})`],
    ['Created', <Time key="created" at={createdAt} />],
  ]
  if (conversation !== undefined) {
    facts.push([
      'Conversation',
      <span key="conversation" className={styles.linked}>
        <Link to={pathTo('conversations', conversation)}>
          <code>{conversation}</code>
        </Link>
        <CopyButton text={conversation} what="id of the conversation" />
      </span>,
    ])
  } else if (orderKey !== undefined) {
    facts.push(['Ordered with', <Id key="order" id={orderKey} what="ordering key" />])
  }
  facts.push(['Subject', <Id key="subject" id={subjectId} what="id of the subject" />])
  facts.push(['Id', <Id key="id" id={id} what="id of the delivery" />])
  return (
    <>
      <Facts facts={facts} />
      <section className={styles.attempts} aria-label="Attempts">
        <h3>Attempts</h3>
        {attemptLog.length === 0 && <p className="muted">None yet.</p>}
        {attemptLog.length < delivery.attempts && (
          <p className="muted">
            {`These are the last ${attemptLog.length} of ${delivery.attempts}.`}
          </p>
        )}
        {attemptLog.toReversed().map((attempt, index) => (
          <AttemptView key={attempt.number} attempt={attempt} body={body} isOpen={index === 0} />
        ))}
      </section>
    </>
  )
}

/** The next step of a pending delivery, or the reason for which it waits. */
function Next({ delivery: { next, orderKey } }: { delivery: DeliveryDetails }) {
  const pathTo = usePathTo()
  if (next === undefined) return null
  const at = next.at === undefined ? undefined : <Time at={next.at} />
  switch (next.waitsFor) {
    case 'response':
      return 'An attempt is under way.'
    case 'worker':
      return 'The next attempt is due.'
    case 'retry':
      return <>Next attempt: {at ?? 'later'}</>
    case 'turn':
      return (
        <>
          Earlier deliveries come first:{' '}
          <Link to={pathTo('deliveries')} search={{ status: 'pending', conversation: orderKey }}>
            look at them
          </Link>
        </>
      )
    case 'receiver':
      return <>The receiver is paused. {at !== undefined && <>Next ping: {at}</>}</>
  }
}
