import { Link } from '@tanstack/react-router'
import { usePathTo } from '../../../api/address.js'
import { Name } from '../../../ui/name.js'
import { formatNumber } from '../../../ui/numbers.js'
import { ErrorPanel, Skeleton } from '../../../ui/states.js'
import styles from './evaluation.module.css'
import { formatDifference, measures, searchOfParameters } from './parameters.js'
import { type Comparison as Compared, type Run, useComparison } from './queries.js'

interface ComparisonProps {
  setId: string
  run: Run
  baselineId: string
}

/** Probability below which a difference is hardly chance. */
const significance = 0.05

/** The differences between another run and this one, and the changes of documents between them. */
export function Comparison({ setId, run, baselineId }: ComparisonProps) {
  const { data, error, refetch } = useComparison(setId, run.id, baselineId)
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  const { comparison } = data
  const { better, worse, cases } = comparison
  return (
    <>
      <p>
        {formatNumber(better)} better and {formatNumber(worse)} worse of {formatNumber(cases)}{' '}
        questions with an answer that both runs have.
      </p>
      <ul className={styles.plain}>
        {measures.map(([name, label]) => {
          const { difference, pValue } = comparison.measures[name]
          return (
            <li key={name}>
              {label} <strong className="numeric">{formatDifference(difference)}</strong>{' '}
              <span className="muted">
                {difference === 0
                  ? 'no difference'
                  : `${pValue < significance ? 'hardly chance' : 'may be chance'} (p ${pValue.toFixed(2)})`}
              </span>
            </li>
          )
        })}
      </ul>
      <Changed comparison={comparison} run={run} />
      <Documents comparison={comparison} />
    </>
  )
}

const rank = (value: number | undefined) => (value === undefined ? 'not found' : `rank ${value}`)

function Changed({ comparison: { changed }, run }: { comparison: Compared; run: Run }) {
  const pathTo = usePathTo()
  if (changed.length === 0) return null
  return (
    <details open className={styles.more}>
      <summary>Questions that changed ({formatNumber(changed.length)})</summary>
      <ul className={styles.plain}>
        {changed.map(({ caseId, question, before, after, rankBefore, rankAfter }) => (
          <li key={caseId}>
            <strong className={after < before ? styles.worse : styles.better}>
              {after < before ? 'Worse' : 'Better'}
            </strong>{' '}
            <Link
              to={pathTo('search')}
              search={{ q: question, ...searchOfParameters(run.parameters) }}
            >
              {question}
            </Link>{' '}
            <span className="muted">
              {rank(rankBefore)} → {rank(rankAfter)}, nDCG {before.toFixed(2)} → {after.toFixed(2)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}

const changes: Record<Compared['documents'][number]['change'], string> = {
  added: 'added',
  replaced: 'replaced',
  reindexed: 'indexed again',
  removed: 'removed',
}

function Documents({ comparison: { documents, documentsChanged } }: { comparison: Compared }) {
  const pathTo = usePathTo()
  if (documentsChanged === 0) {
    return <p className="muted">No searchable document changed in between.</p>
  }
  return (
    <details className={styles.more}>
      <summary>Documents that changed in between ({formatNumber(documentsChanged)})</summary>
      <ul className={styles.plain}>
        {documents.map(({ fileId, fileKey, change }) => (
          <li key={fileId}>
            {change === 'removed' ? (
              <Name>{fileKey}</Name>
            ) : (
              <Link to={pathTo('files', fileId)}>
                <Name>{fileKey}</Name>
              </Link>
            )}{' '}
            <span className="muted">{changes[change]}</span>
          </li>
        ))}
        {documents.length < documentsChanged && <li className="muted">and more</li>}
      </ul>
    </details>
  )
}
