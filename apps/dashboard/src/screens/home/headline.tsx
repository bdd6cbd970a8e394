import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { usePathTo, useScope } from '../../api/address.js'
import { Time } from '../../ui/time.js'
import styles from './home.module.css'
import { type Overview, useDegraded } from './queries.js'
import { troublesOf } from './worst.js'

/** Whether everything is all right: a green sentence, or the worst thing with a link to it. */
export function Headline({ overview }: { overview: Overview }) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const troubles = troublesOf(overview, useDegraded(overview), workspaceId, pathTo)
  const [worst, ...others] = troubles
  if (worst === undefined) {
    return (
      <section className={`${styles.headline} ${styles.good}`} role="status">
        <CircleCheck size={20} aria-hidden="true" />
        <div>
          <h2>Everything works.</h2>
          <p>
            Checked <Time at={overview.asOf} />.
          </p>
        </div>
      </section>
    )
  }
  return (
    <section className={`${styles.headline} ${styles.bad}`} role="status">
      <CircleAlert size={20} aria-hidden="true" />
      <div>
        <h2>
          {worst.link === undefined ? worst.message : <Link {...worst.link}>{worst.message}</Link>}
        </h2>
        <p>
          {worst.action}
          {worst.since !== undefined && (
            <>
              {' '}
              Since <Time at={worst.since} />.
            </>
          )}
          {others.length > 0 &&
            ` ${others.length === 1 ? 'One more thing needs' : `${others.length} more things need`} attention.`}
        </p>
      </div>
    </section>
  )
}
