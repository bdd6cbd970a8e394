import { useAddressSearch, useScope } from '../../../api/address.js'
import { botstead } from '../../../ui/commands.js'
import { type Column, DataTable } from '../../../ui/data-table.js'
import { formatNumber } from '../../../ui/numbers.js'
import { Split } from '../../../ui/page.js'
import { Empty } from '../../../ui/states.js'
import { Time } from '../../../ui/time.js'
import styles from './evaluation.module.css'
import { describeParameters, formatDifference, measures } from './parameters.js'
import { type EvaluationSet, type Run, useRuns } from './queries.js'
import { RunDetail } from './run-detail.js'
import { baselineOf, isCompleted, RunState } from './run-state.js'
import { Trend } from './trend.js'

function countOf(some: number, all: number): string {
  return `${formatNumber(some)} of ${formatNumber(all)}`
}

function columnsFor(runs: readonly Run[]): readonly Column<Run>[] {
  return [
    { id: 'started', header: 'Started', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: 'state', header: 'State', cell: (run) => <RunState run={run} />, isOptional: true },
    ...measures.map(
      ([name, header]): Column<Run> => ({
        id: name,
        header,
        isNumeric: true,
        cell: (run) => run.summary?.mean[name].toFixed(3) ?? <RunState run={run} />,
        isOptional: name === 'mrr',
      }),
    ),
    {
      id: 'change',
      header: 'Change',
      isNumeric: true,
      cell: (run) => {
        const before = baselineOf(run, runs)?.summary?.mean.ndcg
        return run.summary === undefined || before === undefined
          ? ''
          : formatDifference(run.summary.mean.ndcg - before)
      },
    },
    {
      id: 'misses',
      header: 'Misses',
      isNumeric: true,
      cell: ({ summary }) =>
        summary === undefined ? '' : countOf(summary.misses, summary.answerable),
    },
    {
      id: 'false hits',
      header: 'False hits',
      isNumeric: true,
      cell: ({ summary }) =>
        summary === undefined || summary.unanswerable === 0
          ? ''
          : countOf(summary.falseHits, summary.unanswerable),
    },
    {
      id: 'parameters',
      header: 'Settings',
      cell: ({ parameters }) => describeParameters(parameters),
    },
    { id: 'note', header: 'Note', cell: ({ note }) => note },
  ]
}

/** The runs of a set over time; one of them can be open beside the list. */
export function Runs({ set }: { set: EvaluationSet }) {
  const [{ run: openId }] = useAddressSearch()
  const { botId } = useScope()
  const { query, runs } = useRuns(set.id)
  const open = runs.find(({ id }) => id === openId)
  return (
    <Split
      list={
        <>
          <Trend runs={runs.filter(isCompleted).toReversed()} />
          <DataTable
            label="Runs"
            columns={columnsFor(runs)}
            rows={runs}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({
              to: '.',
              search: { run: id, against: undefined, only: undefined },
            })}
            currentId={openId}
            query={query}
            empty={
              <Empty
                calls={[
                  {
                    name: 'Command',
                    text: botstead(['eval', '--set', set.id], botId),
                  },
                  {
                    name: 'Client',
                    text: `await client.startEvaluationRun({ id: '${set.id}', parameters: { minScore: 0.2 } })`,
                  },
                ]}
              >
                {set.cases === 0
                  ? 'A run asks every question of the set. It has no cases yet.'
                  : 'A run asks every question of the set, and says how well search answered. Press “Run the cases”.'}
              </Empty>
            }
          />
        </>
      }
      detail={
        open === undefined ? undefined : (
          <div className={styles.scroll}>
            <RunDetail key={open.id} setId={set.id} run={open} runs={runs} />
          </div>
        )
      }
    />
  )
}
