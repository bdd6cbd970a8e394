import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo, useScope } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { Name } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import styles from './home.module.css'
import { type BotHealth, describeCount, type Reason } from './queries.js'
import { linkOfReason } from './targets.js'

const states = {
  ok: { kind: 'done', word: 'Works' },
  attention: { kind: 'attention', word: 'Needs attention' },
  off: { kind: 'off', word: 'Off' },
} as const

/** Bots that are shown at first. */
const few = 12

/**
 * Each bot with whether it works, and if not, why.
 * @param all number of bots; where it is larger than what is known, the list of bots has the others
 */
export function BotsHealth({ bots, all }: { bots: readonly BotHealth[]; all: number }) {
  const pathTo = usePathTo()
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? bots : bots.slice(0, few)
  return (
    <section className={styles.part} aria-label="Bots">
      <h2>Bots</h2>
      <ul className={styles.bots}>
        {shown.map(({ id, name, status, reasons, past }) => (
          <li key={id}>
            <div className={styles.bot}>
              <Link to={pathTo('bots', id)}>
                <Name>{name || id}</Name>
              </Link>
              <Status kind={states[status].kind}>{states[status].word}</Status>
            </div>
            <Reasons reasons={reasons} />
            {past.length > 0 && (
              <>
                <p className={`muted ${styles.past}`}>It had errors before it last succeeded:</p>
                <Reasons reasons={past} />
              </>
            )}
          </li>
        ))}
      </ul>
      {bots.length > shown.length && (
        <Button onClick={() => setWhole(true)}>
          {all > bots.length ? `Show ${bots.length}` : `Show all ${bots.length}`}
        </Button>
      )}
      {all > bots.length && shown === bots && (
        <p className="muted">
          These are {formatNumber(bots.length)} of {describeCount(all)} bots, those that need
          attention first. <Link to={pathTo('bots')}>The list of bots</Link> has all of them.
        </p>
      )}
    </section>
  )
}

function Reasons({ reasons }: { reasons: readonly Reason[] }) {
  const { workspaceId } = useScope()
  if (reasons.length === 0) return null
  return (
    <ul className={styles.reasons}>
      {reasons.map((reason) => (
        <li key={`${reason.kind} ${reason.target.id}`}>
          <Link {...linkOfReason(reason, workspaceId)}>{reason.message}</Link>{' '}
          <span className="muted">
            {reason.action}
            {reason.since !== undefined && (
              <>
                {' '}
                Since <Time at={reason.since} />.
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
