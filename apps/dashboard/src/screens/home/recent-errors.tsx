import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { Button } from '../../ui/button.js'
import { Name } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { Sparkline } from '../../ui/sparkline.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import styles from './home.module.css'
import { type ErrorGroup, type Overview, useErrorActions } from './queries.js'
import { linkOfErrors } from './targets.js'

const kinds = { delivery: 'Delivery', file: 'File', log: 'Log', job: 'Job' } as const

/** The errors of the last day, those with the same cause together. */
export function RecentErrors({ errors }: { errors: Overview['errors'] }) {
  const pathTo = usePathTo()
  const { workspaceId } = useScope()
  const { nameOf } = useBotNames()
  return (
    <section className={styles.part} aria-label="Errors of the last day">
      <h2>Errors of the last 24 hours</h2>
      {!errors.isComplete && (
        <p className="muted">There are more than could be looked at: the newest are counted.</p>
      )}
      {errors.groups.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <ul className={styles.errors}>
          {errors.groups.map((group) => (
            <li key={group.id}>
              <span className={`numeric ${styles.count}`}>{formatNumber(group.count)}</span>
              <Sparkline label="Errors in each of the last 24 hours" counts={group.hours} />
              <div className={styles.error}>
                <Link {...linkOfErrors(group, pathTo, workspaceId)}>{group.message}</Link>
                <div className="muted">
                  {kinds[group.kind]}
                  {group.integrationAlias !== undefined && ` to ${group.integrationAlias}`}
                  {group.botId !== undefined && (
                    <>
                      , <Name>{nameOf(group.botId)}</Name>
                    </>
                  )}
                  , last <Time at={group.lastAt} />
                </div>
              </div>
              {group.kind !== 'job' && <Resolve group={group} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Jobs have no such button: they are run again, or dropped. */
function Resolve({ group }: { group: ErrorGroup }) {
  const { resolve, reopen } = useErrorActions()
  const [isBusy, setBusy] = useState(false)
  const run = () => {
    setBusy(true)
    resolve(group)
      .then(
        () =>
          note('Resolved. The next error of this kind is shown again.', () => {
            reopen(group).catch(noteFailure)
          }),
        noteFailure,
      )
      .finally(() => setBusy(false))
  }
  return (
    <Button
      icon={<Check size={14} />}
      isBusy={isBusy}
      title="The errors of this group so far no longer count"
      aria-label={`Resolve ${group.message}`}
      onClick={run}
    >
      Resolve
    </Button>
  )
}
