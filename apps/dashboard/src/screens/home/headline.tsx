import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react'
import { usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import type { Usage } from '../../api/usage.js'
import { shownName } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { Time } from '../../ui/time.js'
import { formatUsage, kindOf } from '../../ui/usage/kinds.js'
import { completionOf } from '../../ui/usage/quotas.js'
import { UsedPart } from '../../ui/usage/used-part.js'
import styles from './home.module.css'
import { type Overview, useDegraded } from './queries.js'
import { linkOfUsage } from './targets.js'
import { troublesOf } from './worst.js'

/** Whether everything is all right: a green sentence, or the worst thing with a link to it. */
export function Headline({ overview, usages }: { overview: Overview; usages: readonly Usage[] }) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const describeOwner = useDescribeOwner()
  const degraded = useDegraded(overview)
  const troubles = troublesOf(overview, degraded, usages, workspaceId, describeOwner, pathTo)
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

/** Returns a function that says whose usage it is. */
function useDescribeOwner(): (usage: Usage) => string {
  const { workspaceId, botId } = useScope()
  const { nameOf } = useBotNames()
  return ({ id }) => {
    if (id === workspaceId) return 'the workspace'
    return id === botId ? 'the bot' : shownName(nameOf(id))
  }
}

/** Quotas that are shown at most. */
const manyQuotas = 20

/** Lists the quotas that are used up or nearly used up; renders nothing if there are none. */
export function Quotas({ usages }: { usages: readonly Usage[] }) {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const describeOwner = useDescribeOwner()
  const used = usages
    .flatMap((usage) => {
      const completion = completionOf(usage)
      return completion === undefined || completion.level === 'low' ? [] : [{ usage, completion }]
    })
    .sort((a, b) => b.completion.percent - a.completion.percent)
  if (used.length === 0) return null
  const shown = used.slice(0, manyQuotas)
  return (
    <section className={styles.quotas} role="status" aria-label="Quotas">
      <TriangleAlert size={20} aria-hidden="true" />
      <ul>
        {shown.map(({ usage, completion }) => {
          const { id, type, value, quota } = usage
          return (
            <li key={`${id} ${type}`}>
              <Link {...linkOfUsage(usage, pathTo, workspaceId)}>
                {kindOf(type).label}
                {id !== workspaceId && ` of ${describeOwner(usage)}`}: {formatUsage(type, value)} of{' '}
                {formatUsage(type, quota)}
              </Link>{' '}
              <UsedPart completion={completion} />
            </li>
          )
        })}
        {used.length > shown.length && (
          <li className="muted">{formatNumber(used.length - shown.length)} more</li>
        )}
      </ul>
    </section>
  )
}
