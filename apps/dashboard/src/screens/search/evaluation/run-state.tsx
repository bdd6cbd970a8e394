import { formatNumber } from '../../../ui/numbers.js'
import { Status, type StatusKind } from '../../../ui/status.js'
import type { Run } from './queries.js'

const states: Record<Run['state'], { kind: StatusKind; label: string }> = {
  waiting: { kind: 'waiting', label: 'Waiting' },
  running: { kind: 'working', label: 'Running' },
  completed: { kind: 'done', label: 'Completed' },
  failed: { kind: 'attention', label: 'Failed' },
}

/** The state of a run, with its progress. */
export function RunState({ run: { state, done, total } }: { run: Run }) {
  const { kind, label } = states[state]
  return (
    <Status kind={kind}>
      {state === 'running' ? `${label} ${formatNumber(done)} of ${formatNumber(total)}` : label}
    </Status>
  )
}

/** The completed run before another one; the list is newest first. */
export function baselineOf(run: Run, runs: readonly Run[]): Run | undefined {
  return runs.slice(runs.findIndex(({ id }) => id === run.id) + 1).find(isCompleted)
}

export function isCompleted({ state }: Run): boolean {
  return state === 'completed'
}
