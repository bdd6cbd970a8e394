import { Link } from '@tanstack/react-router'
import { usePathTo } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { describeDuration, Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { useJobActions, useJobs, useSchedules } from './queries.js'

/** The kinds of jobs with their numbers; all that were given up can be retried together. */
export function JobKinds() {
  const pathTo = usePathTo()
  const { query, kinds } = useJobs({})
  const { retryAll } = useJobActions()
  return (
    <Pane>
      <Part title="Kinds of jobs">
        {query.error !== null && (
          <ErrorPanel error={query.error} retry={() => void query.refetch()} />
        )}
        {query.isPending && <Skeleton />}
        <ItemList
          items={kinds}
          idOf={({ kind }) => kind}
          describe={({ kind, about, waiting, running, dead }) => ({
            name: (
              <Link to={pathTo('jobs')} search={{ kind }}>
                {kind}
              </Link>
            ),
            facts: (
              <>
                {about} {waiting} waiting, {running} running
                {dead > 0 && (
                  <>
                    , <Status kind="attention">{`${dead} dead`}</Status>
                  </>
                )}
              </>
            ),
          })}
          actions={({ kind, dead }) =>
            dead > 0 && (
              <Button
                onClick={() => {
                  retryAll(kind).then((count) => note(`${count} run again now.`), noteFailure)
                }}
              >
                Retry all dead
              </Button>
            )
          }
        />
      </Part>
    </Pane>
  )
}

/** The jobs that the server runs again and again. */
export function Schedules() {
  const { data, error, refetch } = useSchedules()
  const { run } = useJobActions()
  return (
    <Pane>
      <Part title="Schedules">
        {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton />}
        <ItemList
          items={data?.schedules ?? []}
          idOf={({ kind }) => kind}
          describe={(schedule) => ({
            name: schedule.kind,
            facts: (
              <>
                {schedule.about} Every {describeDuration(schedule.everyMs)}; last run{' '}
                {schedule.lastRunAt === undefined ? 'never' : <Time at={schedule.lastRunAt} />},
                next {schedule.nextRunAt === undefined ? 'now' : <Time at={schedule.nextRunAt} />}
                {schedule.lastError !== undefined && (
                  <div>
                    <Status kind="attention">{schedule.lastError}</Status>
                  </div>
                )}
              </>
            ),
          })}
          actions={({ kind }) => (
            <Button
              onClick={() => {
                run(kind).then(() => note('It runs now.'), noteFailure)
              }}
            >
              Run now
            </Button>
          )}
        />
      </Part>
    </Pane>
  )
}
