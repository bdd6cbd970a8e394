import { Link } from '@tanstack/react-router'
import { usePathTo } from '../../api/address.js'
import { formatNumber } from '../../ui/numbers.js'
import { Empty, Unread } from '../../ui/states.js'
import styles from './files.module.css'
import { type File, useIndexingReport } from './queries.js'

/** The number of things of a file that were not read, with a link to its report; nothing if all was read. */
export function IndexingReportLink({ file, isShort = false }: { file: File; isShort?: boolean }) {
  const pathTo = usePathTo()
  const { id, key, indexingOmissions: count = 0 } = file
  if (count === 0) return null
  const words = `${formatNumber(count)} not read`
  return (
    <Link
      to={pathTo('files', id)}
      search={(before: object) => ({ ...before, tab: 'indexing-report', passage: undefined })}
      aria-label={isShort ? `${words} of ${key}` : undefined}
    >
      {isShort ? words : `${words}: what, why and what to do`}
    </Link>
  )
}

/** The indexing report of a file: omissions, their reasons, and advice for its author. */
export function IndexingReport({ file }: { file: File }) {
  const { data, error, refetch } = useIndexingReport(file)
  if (data === undefined) return <Unread error={error} refetch={refetch} />
  const { outcome, omissions, parts, failedStatusReason } = data.report
  if (omissions.length === 0) {
    return <Empty>{describeNone(file, outcome, failedStatusReason)}</Empty>
  }
  return (
    <div className={styles.indexingReport}>
      {parts !== undefined && parts.unread > 0 && (
        <p>
          {formatNumber(parts.unread)} of {formatNumber(parts.count)} pages, slides, sheets or
          chapters could not be read.
        </p>
      )}
      <ul>
        {omissions.map(({ kind, summary, why, advice }) => (
          <li key={kind}>
            <strong>{summary}</strong>
            <p>{why}</p>
            <p className="muted">{advice}</p>
          </li>
        ))}
      </ul>
    </div>
  )
}

function describeNone({ status }: File, outcome: string, reason: string | undefined): string {
  if (outcome === 'not_read' && reason !== undefined) return `Nothing was read. ${reason}`
  if (outcome === 'all_read') return 'All of the content was read.'
  if (status === 'upload_completed') return 'The file is not indexed, so nothing of it was read.'
  if (status.endsWith('_pending')) return 'The content has not been read yet.'
  return 'It is unknown whether all of the content was read: an earlier release indexed the file, or a program set its passages. Press “Index again” to find out.'
}
