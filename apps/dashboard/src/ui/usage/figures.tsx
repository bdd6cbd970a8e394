import { noQuota, type UsageType } from '@botstead/contract'
import { useState } from 'react'
import type { SetQuota, Usage } from '../../api/usage.js'
import { Button } from '../button.js'
import { formatUsage, kindOf } from './kinds.js'
import { QuotaDialog } from './quota-dialog.js'
import { completionOf } from './quotas.js'
import styles from './usage.module.css'
import { UsedPart } from './used-part.js'

/** The quotas of the server for every workspace: of a workspace that has one too, the smaller one counts. */
export type ServerQuotas = Readonly<Partial<Record<UsageType, number>>>

interface FiguresProps<Limited extends UsageType> {
  usages: readonly Usage[]
  /** Types that can have a quota. */
  limited: readonly Limited[]
  ofServer: ServerQuotas
  /** Whether the figures are of the month that has begun: the quotas are not those of earlier ones. */
  isCurrent: boolean
  /** Only for those who may. */
  setQuota: SetQuota<Limited> | undefined
}

/** The usage of each type, with a bar where there is a quota. */
export function Figures<Limited extends UsageType>(props: FiguresProps<Limited>) {
  const { usages, limited, ofServer, isCurrent, setQuota } = props
  const [asked, ask] = useState<Limited>()
  const usage = usages.find(({ type }) => type === asked)
  return (
    <>
      <ul className={styles.figures}>
        {usages.map((one) => {
          const { type, quota } = one
          const { label } = kindOf(type)
          const limitedType = isCurrent ? limited.find((each) => each === type) : undefined
          const hasOwn = quota < (ofServer[type] ?? noQuota)
          return (
            <li key={type}>
              <Figure usage={one} canHaveQuota={limitedType !== undefined} />
              {setQuota !== undefined && limitedType !== undefined && (
                <Button
                  aria-label={`${hasOwn ? 'Change the' : 'Set a'} quota: ${label}`}
                  onClick={() => ask(limitedType)}
                >
                  {hasOwn ? 'Change' : 'Set a quota'}
                </Button>
              )}
            </li>
          )
        })}
      </ul>
      {usage !== undefined && asked !== undefined && setQuota !== undefined && (
        <QuotaDialog
          usage={usage}
          ofServer={ofServer[asked]}
          setQuota={(value) => setQuota(asked, value)}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  )
}

function Figure({ usage, canHaveQuota }: { usage: Usage; canHaveQuota: boolean }) {
  const { type, value, quota } = usage
  const { label } = kindOf(type)
  const completion = canHaveQuota ? completionOf(usage) : undefined
  return (
    <div className={styles.figure}>
      <strong>{label}</strong>
      <span>
        {formatUsage(type, value)}
        {completion !== undefined && ` of ${formatUsage(type, quota)}`}
        {completion === undefined && canHaveQuota && <span className="muted">, no quota</span>}
      </span>
      {completion !== undefined && (
        <>
          <meter
            className={`${styles.bar} ${styles[completion.level]}`}
            style={{ '--part': `${Math.min(completion.percent, 100)}%` } as React.CSSProperties}
            aria-label={`${label}: used part of the quota`}
            min={0}
            max={100}
            value={Math.min(completion.percent, 100)}
          >
            {completion.percent} %
          </meter>
          <UsedPart completion={completion} />
        </>
      )}
    </div>
  )
}
