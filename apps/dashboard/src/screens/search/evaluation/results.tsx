import { Link } from '@tanstack/react-router'
import { useAddressSearch, usePathTo } from '../../../api/address.js'
import { Name } from '../../../ui/name.js'
import { ShowMore } from '../../../ui/show-more.js'
import { Empty, ErrorPanel, Skeleton } from '../../../ui/states.js'
import { Status } from '../../../ui/status.js'
import { Tabs } from '../../../ui/tabs.js'
import styles from './evaluation.module.css'
import { searchOfParameters } from './parameters.js'
import { type Result, type Run, useResults } from './queries.js'

const filters = [
  { id: 'misses', label: 'Misses and false hits' },
  { id: 'wrong', label: 'Wrong found' },
  { id: 'all', label: 'All' },
] as const

const nothing: Record<string, string> = {
  misses: 'No misses and no false hits: every question was answered in the best possible way.',
  wrong: 'Nothing wrong was among the first ten of any question.',
  all: 'The run has no results.',
}

/** The results of a run, worst first, with the passages that were found instead. */
export function Results({ setId, run }: { setId: string; run: Run }) {
  const [{ only = 'misses' }] = useAddressSearch()
  const filter = only === 'misses' || only === 'wrong' ? only : undefined
  const { query, results } = useResults(setId, run, filter)
  return (
    <section className={styles.results} aria-label="Results">
      <Tabs tabs={filters} current={only} param="only" name="Which results" />
      {query.error !== null ? (
        <ErrorPanel error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Skeleton />
      ) : results.length === 0 ? (
        <Empty>{nothing[only] ?? nothing.all}</Empty>
      ) : (
        <ol className={styles.plain}>
          {results.map((result) => (
            <li key={result.caseId}>
              <ResultOfCase result={result} run={run} />
            </li>
          ))}
        </ol>
      )}
      <ShowMore query={query} />
    </section>
  )
}

/** The result of a question in a few words. */
function describe({ measures, rank, wrong, found }: Result): {
  kind: 'done' | 'attention'
  text: string
} {
  const more = wrong > 0 ? `, ${wrong} wrong found` : ''
  if (measures === undefined) {
    return found.length === 0
      ? { kind: 'done', text: 'Nothing found, as it should be' }
      : { kind: 'attention', text: `Something found that should not be${more}` }
  }
  if (rank === undefined) return { kind: 'attention', text: `Not found${more}` }
  const isBest = measures.ndcg === 1 && wrong === 0
  return { kind: isBest ? 'done' : 'attention', text: `Rank ${rank}${more}` }
}

function ResultOfCase({ result, run }: { result: Result; run: Run }) {
  const pathTo = usePathTo()
  const { question, measures, missing, found } = result
  const { kind, text } = describe(result)
  const missed = missing.find(({ state }) => state !== 'gone')
  return (
    <details className={styles.result}>
      <summary>
        <span className={styles.asked}>{question}</span>
        <Status kind={kind}>{text}</Status>
        <span className="muted">
          {measures === undefined ? '' : `nDCG ${measures.ndcg.toFixed(2)}`}
        </span>
      </summary>
      {missing.length > 0 && (
        <>
          <h4>Missing from the first ten</h4>
          <ul className={styles.plain}>
            {missing.map(({ fileId, fileKey, passageId = '', text, state }) => (
              <li key={fileId + passageId}>
                {state === 'gone' ? (
                  <>
                    <Name>{fileKey}</Name> <Status kind="attention">Gone</Status>
                  </>
                ) : (
                  <Link to={pathTo('files', fileId)}>
                    <Name>{fileKey}</Name>
                  </Link>
                )}
                {text !== undefined && <p className="muted">{text}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
      <h4>{found.length === 0 ? 'Nothing was found' : 'Found'}</h4>
      <ol className={styles.found}>
        {found.map(({ rank, fileId, fileKey, passageId, text, score, verdict }) => (
          <li key={passageId} value={rank}>
            <Link to={pathTo('files', fileId)}>
              <Name>{fileKey}</Name>
            </Link>{' '}
            <span className="numeric">{score.toFixed(2)}</span>{' '}
            {verdict !== 'unjudged' && (
              <Status kind={verdict === 'right' ? 'done' : 'attention'}>
                {verdict === 'right' ? 'Right' : 'Wrong'}
              </Status>
            )}
            <p className="muted">{text}</p>
          </li>
        ))}
      </ol>
      <Link
        to={pathTo('search')}
        search={{
          q: question,
          ...searchOfParameters(run.parameters),
          ...(missed !== undefined && { missed: missed.fileId }),
        }}
      >
        Ask it again and see why
      </Link>
    </details>
  )
}
