import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePathTo } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { Name } from '../../ui/name.js'
import { formatBytes } from '../../ui/numbers.js'
import { Status, type StatusKind } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import styles from './home.module.css'
import { describeCount, type Overview } from './queries.js'

/** Unfinished work, and the free space. */
export function Waiting({ overview }: { overview: Overview }) {
  const pathTo = usePathTo()
  const { nameOf } = useBotNames()
  const { deliveries, files, operator } = overview
  const { oldest } = deliveries
  return (
    <section aria-label="What waits">
      <ul className={styles.cards}>
        <Card
          title="Deliveries"
          kind={deliveries.waiting > 0 ? 'waiting' : 'done'}
          word={
            deliveries.waiting > 0 ? `${describeCount(deliveries.waiting)} waiting` : 'None waits'
          }
          to={pathTo('deliveries')}
          search={{ status: 'pending' }}
        >
          {oldest !== undefined && (
            <>
              Oldest:{' '}
              <Link to={pathTo('deliveries', oldest.id)}>
                <Time at={oldest.createdAt} />
              </Link>
              , to <Name>{oldest.integrationAlias ?? nameOf(oldest.botId)}</Name>
            </>
          )}
        </Card>
        <Card
          title="Files"
          kind={files.failed > 0 ? 'attention' : files.waiting > 0 ? 'working' : 'done'}
          word={files.failed > 0 ? `${describeCount(files.failed)} failed` : 'None failed'}
          to={pathTo('files')}
          search={files.failed > 0 ? { status: 'failed' } : {}}
        >
          {files.waiting > 0 && `${describeCount(files.waiting)} being stored or indexed`}
        </Card>
        {operator !== undefined && (
          <Card
            title="Jobs"
            kind={operator.deadJobs > 0 ? 'attention' : 'done'}
            word={
              operator.deadJobs > 0
                ? `${describeCount(operator.deadJobs)} given up`
                : 'None given up'
            }
            to={pathTo('jobs')}
            search={operator.deadJobs > 0 ? { state: 'dead' } : {}}
          />
        )}
        {disksOf(operator?.disks ?? []).map(({ name, freeBytes, totalBytes, isLow }) => (
          <Card
            key={name}
            title={name}
            kind={isLow ? 'attention' : 'done'}
            word={`${formatBytes(freeBytes)} free`}
            to={pathTo('workspace')}
          >
            <meter
              className={styles.meter}
              aria-label={`${name}: used space`}
              min={0}
              max={totalBytes}
              high={totalBytes * 0.95}
              optimum={0}
              value={totalBytes - freeBytes}
            />
            of {formatBytes(totalBytes)}
          </Card>
        ))}
      </ul>
    </section>
  )
}

type Disk = NonNullable<Overview['operator']>['disks'][number]

/** The disks by name; mostly, all is on one. */
function disksOf(disks: readonly Disk[]) {
  const [first] = disks
  const isOne = disks.every(({ totalBytes }) => totalBytes === first?.totalBytes)
  if (first !== undefined && isOne) return [{ ...first, name: 'Disk' }]
  return disks.map((disk) => ({ ...disk, name: `Disk of the ${disk.of}` }))
}

interface CardProps {
  title: string
  kind: StatusKind
  word: string
  to: string
  search?: Record<string, string>
  children?: ReactNode
}

function Card({ title, kind, word, to, search = {}, children }: CardProps) {
  return (
    <li className={styles.card}>
      <h2>
        <Link to={to} search={search}>
          {title}
        </Link>
      </h2>
      <Status kind={kind}>{word}</Status>
      {children !== undefined && children !== false && <p className="muted">{children}</p>}
    </li>
  )
}
