import { memo } from 'react'
import type { TimelineEntry } from '../../api/timeline-window.js'
import { describeDuration, Time } from '../time.js'
import { Deliveries } from './deliveries.js'
import { Message } from './message.js'
import { Step } from './step.js'
import styles from './transcript.module.css'

interface EntryProps {
  entry: TimelineEntry
  /** The one before it; undefined for the first one that is loaded. */
  before: TimelineEntry | undefined
  /** Whether nothing happened before it. */
  isFirst: boolean
  botId: string
  isRaw: boolean
  isBrief: boolean
  hasDeliveries: boolean
  toggleRaw: (id: string) => void
  openIds: ReadonlySet<string>
  toggleOpen: (id: string) => void
  replay: (deliveryId: string) => Promise<unknown>
}

/** Milliseconds between two entries from which the delay is shown. */
const longDelay = 60_000
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

/** One entry of a transcript, with the day before it if it is another one. */
export const Entry = memo(function Entry(props: EntryProps) {
  const { entry, before, isFirst, botId, isRaw, isBrief, hasDeliveries } = props
  const { toggleRaw, openIds, toggleOpen, replay } = props
  const deliveries = hasDeliveries && 'deliveries' in entry && (
    <Deliveries
      deliveries={entry.deliveries}
      botId={botId}
      isOpen={(id) => openIds.has(id)}
      toggle={toggleOpen}
      replay={replay}
    />
  )
  const delay = before === undefined ? 0 : Date.parse(entry.at) - Date.parse(before.at)
  const when = (
    <>
      <Time at={entry.at} />
      {delay >= longDelay && ` (${describeDuration(delay)} later)`}
    </>
  )
  return (
    <>
      {isFirst && <p className={styles.edge}>The conversation begins here.</p>}
      {isOtherDay(entry, before) && <p className={styles.day}>{days.format(new Date(entry.at))}</p>}
      {entry.kind === 'message' && !isBrief ? (
        <>
          <Message entry={entry} when={when} isRaw={isRaw} toggleRaw={() => toggleRaw(entry.id)} />
          {deliveries}
        </>
      ) : (
        <div className={styles.step}>
          <Step entry={entry}>
            <span className="muted">{when}</span>
          </Step>
          {deliveries}
        </div>
      )}
    </>
  )
})

function isOtherDay(entry: TimelineEntry, before: TimelineEntry | undefined): boolean {
  if (before === undefined) return true
  return new Date(entry.at).toDateString() !== new Date(before.at).toDateString()
}
