import { Link } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { useAddressSearch } from '../../../api/address.js'
import { Button } from '../../../ui/button.js'
import { Id } from '../../../ui/copy.js'
import { Dialog } from '../../../ui/dialog.js'
import { Form, SelectField } from '../../../ui/form.js'
import { formatNumber } from '../../../ui/numbers.js'
import { Facts } from '../../../ui/page.js'
import { useShortcuts } from '../../../ui/shortcuts.js'
import { Time } from '../../../ui/time.js'
import { note } from '../../../ui/toasts.js'
import { Comparison } from './comparison.js'
import styles from './evaluation.module.css'
import { describeParameters, measures, nameOfRun } from './parameters.js'
import { type Run, useEvaluationActions } from './queries.js'
import { Results } from './results.js'
import { baselineOf, RunState } from './run-state.js'

interface RunDetailProps {
  setId: string
  run: Run
  /** All runs of the set, newest first. */
  runs: readonly Run[]
}

const closed = (search: object) => ({
  ...search,
  run: undefined,
  against: undefined,
  only: undefined,
})

/** A run: its measures, its differences from another run, and its worst questions. */
export function RunDetail({ setId, run, runs }: RunDetailProps) {
  const [{ against }, change] = useAddressSearch()
  const others = runs.filter(({ id, state }) => id !== run.id && state === 'completed')
  const baseline = others.find(({ id }) => id === against) ?? baselineOf(run, runs)
  useShortcuts({ Escape: { label: 'Close the run', run: () => change(closed({})) } })
  return (
    <article className={styles.run} aria-label="Run">
      <header>
        <Link to="." search={closed} aria-label="Back to the runs" className={styles.back ?? ''}>
          <ArrowLeft size={16} aria-hidden="true" />
        </Link>
        <h3>
          Run <Time at={run.createdAt} />
        </h3>
        <RunState run={run} />
        <RemoveRun setId={setId} run={run} />
      </header>
      {run.failedReason !== undefined && <p role="alert">{run.failedReason}</p>}
      {run.state === 'running' && (
        <progress aria-label="Progress of the run" max={Math.max(1, run.total)} value={run.done} />
      )}
      {run.degraded.length > 0 && (
        <p className={styles.warning}>
          Not available in some of the searches: {run.degraded.join(', ')}. The figures are those of
          the rest.
        </p>
      )}
      <Summary run={run} />
      {run.state === 'completed' && others.length > 0 && (
        <section className={styles.part} aria-label="Comparison">
          <SelectField
            label="Compared with"
            options={[
              ...(baseline === undefined ? [{ value: '', label: 'no run' }] : []),
              ...others.map((other) => ({ value: other.id, label: nameOfRun(other) })),
            ]}
            value={baseline?.id ?? ''}
            onChange={({ target }) =>
              change({ against: target.value === '' ? undefined : target.value })
            }
          />
          {baseline !== undefined && (
            <Comparison setId={setId} run={run} baselineId={baseline.id} />
          )}
        </section>
      )}
      {run.state === 'completed' && <Results setId={setId} run={run} />}
    </article>
  )
}

/** The figures of all cases. */
function Summary({ run: { id, summary, parameters, note } }: { run: Run }) {
  return (
    <>
      {summary !== undefined && (
        <dl className={styles.figures}>
          {measures.map(([name, label, meaning]) => (
            <div key={name} title={meaning}>
              <dt>{label}</dt>
              <dd>{summary.mean[name].toFixed(3)}</dd>
            </div>
          ))}
          <div title="Questions with an answer whose order is not the best possible one.">
            <dt>Misses</dt>
            <dd>
              {formatNumber(summary.misses)} <small>of {formatNumber(summary.answerable)}</small>
            </dd>
          </div>
          <div title="Questions for which something wrong was among the first ten.">
            <dt>Wrong found</dt>
            <dd>{formatNumber(summary.wrong)}</dd>
          </div>
          {summary.unanswerable > 0 && (
            <div title="Questions without an answer for which something was found all the same.">
              <dt>False hits</dt>
              <dd>
                {formatNumber(summary.falseHits)}{' '}
                <small>of {formatNumber(summary.unanswerable)}</small>
              </dd>
            </div>
          )}
        </dl>
      )}
      <Facts
        facts={[
          ...(note === '' ? [] : [['Note', note] as [string, string]]),
          ['Settings', describeParameters(parameters) || 'the usual ones'],
          ...(summary === undefined
            ? []
            : ([
                [
                  'Time of a search',
                  `${Math.round(summary.milliseconds.p50)} ms, 95 of 100 below ${Math.round(summary.milliseconds.p95)} ms`,
                ],
                ...(summary.separation === undefined
                  ? []
                  : [
                      [
                        'Separation',
                        `${summary.separation.toFixed(2)}: how surely a question with an answer scores higher than one without; 0.5 is chance`,
                      ] as [string, string],
                    ]),
                ...(summary.thresholds === undefined
                  ? []
                  : [
                      [
                        'Suggested lowest score',
                        describeThreshold(summary.thresholds.suggested),
                      ] as [string, string],
                    ]),
                ...(summary.gone === 0
                  ? []
                  : [
                      [
                        'Answers that are gone',
                        `${formatNumber(summary.gone)} cases; they count as not found`,
                      ] as [string, string],
                    ]),
              ] as [string, string][])),
          ['Id', <Id key="id" id={id} what="id of the run" />],
        ]}
      />
    </>
  )
}

type Threshold = NonNullable<NonNullable<Run['summary']>['thresholds']>['suggested']

function describeThreshold({ minScore, kept, refused }: Threshold): string {
  const percent = (share: number) => `${Math.round(100 * share)} %`
  return `${minScore.toFixed(2)}: keeps ${percent(kept)} of the answers, and refuses ${percent(refused)} of the other questions`
}

function RemoveRun({ setId, run }: { setId: string; run: Run }) {
  const { removeRun } = useEvaluationActions()
  const [, change] = useAddressSearch()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button onClick={() => setAsking(true)}>Delete</Button>
      {isAsking && (
        <Dialog title="Delete the run?" onClose={() => setAsking(false)}>
          <p>Its results are deleted with it, for ever.</p>
          <Form
            submit="Delete the run"
            isDangerous
            onSubmit={async () => {
              await removeRun(setId, run.id)
              note('The run is deleted.')
              change(closed({}))
            }}
          >
            {() => null}
          </Form>
        </Dialog>
      )}
    </>
  )
}
