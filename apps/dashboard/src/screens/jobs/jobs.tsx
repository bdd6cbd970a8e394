import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useAddressSearch, usePathTo } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { Id } from '../../ui/copy.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { type FilterField, Filters } from '../../ui/filters.js'
import { Detail, Facts, Page, PageBody, Split } from '../../ui/page.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import { Status, type StatusKind } from '../../ui/status.js'
import { Tabs } from '../../ui/tabs.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { DropDialog } from './drop-dialog.js'
import { JobKinds, Schedules } from './kinds.js'
import { type Job, type JobKind, useJobActions, useJobs } from './queries.js'

const tabs = [
  { id: 'jobs', label: 'Jobs' },
  { id: 'kinds', label: 'Kinds' },
  { id: 'schedules', label: 'Schedules' },
]

const stateKinds: Record<Job['state'], { kind: StatusKind; word: string }> = {
  waiting: { kind: 'waiting', word: 'Waiting' },
  running: { kind: 'working', word: 'Running' },
  dead: { kind: 'attention', word: 'Dead' },
}

function JobState({ state }: { state: Job['state'] }) {
  const { kind, word } = stateKinds[state]
  return <Status kind={kind}>{word}</Status>
}

const columns: readonly Column<Job>[] = [
  { id: 'kind', header: 'Kind', cell: ({ kind }) => kind },
  { id: 'key', header: 'About', cell: ({ key }) => key },
  {
    id: 'state',
    header: 'State',
    cell: ({ state }) => <JobState state={state} />,
  },
  {
    id: 'attempts',
    header: 'Attempts',
    isNumeric: true,
    cell: ({ attempts, maxAttempts }) => `${attempts} of ${maxAttempts}`,
  },
  {
    id: 'next',
    header: 'Next attempt',
    cell: ({ nextRunAt }) => nextRunAt !== undefined && <Time at={nextRunAt} />,
  },
  { id: 'error', header: 'Last error', cell: ({ lastError }) => lastError },
  {
    id: 'updated',
    header: 'Changed',
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
    isOptional: true,
  },
]

const states: readonly Job['state'][] = ['waiting', 'running', 'dead']

/** The background work of the server, for its operator. */
export function JobsScreen() {
  const [{ tab = 'jobs' }] = useAddressSearch()
  return (
    <Page title="Jobs">
      <Tabs tabs={tabs} current={tab} />
      {tab === 'kinds' || tab === 'schedules' ? (
        <PageBody label={tab === 'kinds' ? 'Kinds' : 'Schedules'}>
          {tab === 'kinds' ? <JobKinds /> : <Schedules />}
        </PageBody>
      ) : (
        <JobList />
      )}
    </Page>
  )
}

function JobList() {
  const { item }: { item?: string } = useParams({ strict: false })
  const [{ kind, state }] = useAddressSearch()
  const pathTo = usePathTo()
  const { retry } = useJobActions()
  const [dropped, setDropped] = useState<{ ids: readonly string[]; clear: () => void }>()
  const known = states.find((one) => one === state)
  const { query, jobs, kinds } = useJobs({
    ...(kind !== undefined && { kind }),
    ...(known !== undefined && { state: known }),
  })
  const fields: readonly FilterField[] = [
    {
      id: 'state',
      label: 'State',
      options: states.map((value) => ({ value, label: stateKinds[value].word })),
    },
    {
      id: 'kind',
      label: 'Kind',
      options: kinds.map((one) => ({ value: one.kind, label: one.kind })),
    },
  ]
  const open = jobs.find(({ id }) => id === item)
  return (
    <Split
      list={
        <>
          <Filters fields={fields} />
          <DataTable
            label="Jobs"
            columns={columns}
            rows={jobs}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: pathTo('jobs', id) })}
            currentId={item}
            query={query}
            empty={<Empty>No job waits, runs or was given up.</Empty>}
            selectionActions={(ids, clear) => (
              <>
                <Button
                  onClick={() => {
                    retry(ids).then(() => {
                      clear()
                      note('The jobs run again now.')
                    }, noteFailure)
                  }}
                >
                  Retry
                </Button>
                <Button kind="danger" onClick={() => setDropped({ ids, clear })}>
                  Drop
                </Button>
              </>
            )}
          />
          {dropped !== undefined && (
            <DropDialog
              ids={dropped.ids}
              onClose={() => setDropped(undefined)}
              onDropped={dropped.clear}
            />
          )}
        </>
      }
      detail={
        item === undefined ? undefined : open === undefined ? (
          query.isPending ? (
            <Skeleton />
          ) : (
            <Detail title={item} back={pathTo('jobs')}>
              <ErrorPanel error={new Error('The job is done, or not on the pages shown so far.')} />
            </Detail>
          )
        ) : (
          <JobDetail job={open} kind={kinds.find((one) => one.kind === open.kind)} />
        )
      }
    />
  )
}

function JobDetail({ job, kind }: { job: Job; kind: JobKind | undefined }) {
  const pathTo = usePathTo()
  const { retry } = useJobActions()
  const [isDropping, setDropping] = useState(false)
  return (
    <Detail
      title={job.kind}
      back={pathTo('jobs')}
      actions={
        job.state === 'dead' && (
          <>
            <Button
              kind="primary"
              onClick={() => {
                retry([job.id]).then(() => note('The job runs again now.'), noteFailure)
              }}
            >
              Retry
            </Button>
            <Button
              kind="danger"
              disabled={kind?.mayBeDropped === false}
              title={kind?.dropping}
              onClick={() => setDropping(true)}
            >
              Drop
            </Button>
            {isDropping && (
              <DropDialog
                ids={[job.id]}
                consequence={kind?.dropping}
                onClose={() => setDropping(false)}
              />
            )}
          </>
        )
      }
    >
      <Facts
        facts={[
          ['Id', <Id key="id" id={job.id} what="id of the job" />],
          ['What it does', kind?.about],
          ['About', job.key ?? 'nothing in particular'],
          ['State', <JobState key="state" state={job.state} />],
          ['Attempts', `${job.attempts} of ${job.maxAttempts}`],
          ['Last error', job.lastError ?? 'none'],
          [
            'Next attempt',
            job.nextRunAt === undefined ? 'none' : <Time key="n" at={job.nextRunAt} />,
          ],
          ['Worker', job.worker ?? 'none yet'],
          ['Requested', <Time key="created" at={job.createdAt} />],
          ['Changed', <Time key="updated" at={job.updatedAt} />],
          ...(kind === undefined ? [] : [['Dropping it', kind.dropping] as [string, string]]),
        ]}
      />
    </Detail>
  )
}
