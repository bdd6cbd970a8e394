import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo } from '../../../api/address.js'
import { Button } from '../../../ui/button.js'
import { type Column, DataTable } from '../../../ui/data-table.js'
import { Dialog } from '../../../ui/dialog.js'
import { Form } from '../../../ui/form.js'
import { formatNumber } from '../../../ui/numbers.js'
import { Empty } from '../../../ui/states.js'
import { Status } from '../../../ui/status.js'
import { Time } from '../../../ui/time.js'
import { note } from '../../../ui/toasts.js'
import { searchOfCase } from './marks.js'
import { type Case, type EvaluationSet, useCases, useEvaluationActions } from './queries.js'

const columns: readonly Column<Case>[] = [
  { id: 'question', header: 'Question', cell: ({ question }) => question },
  { id: 'right', header: 'Right', cell: ({ right }) => describeTargets(right, 'nothing') },
  { id: 'wrong', header: 'Wrong', cell: ({ wrong }) => describeTargets(wrong, '') },
  { id: 'state', header: 'State', cell: (each) => <CaseState of={each} /> },
  { id: 'note', header: 'Note', cell: ({ note }) => note },
  {
    id: 'updated',
    header: 'Changed',
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
    isOptional: true,
  },
  { id: 'key', header: 'Key', cell: ({ key }) => key, isOptional: true },
]

/** The files of targets, each once. */
function describeTargets(targets: Case['right'], none: string): string {
  const keys = [...new Set(targets.map(({ fileKey }) => fileKey))]
  if (keys.length === 0) return none
  return keys.length > 2
    ? `${keys.slice(0, 2).join(', ')} and ${keys.length - 2} more`
    : keys.join(', ')
}

/** Whether the targets of the case still exist. */
function CaseState({ of: { right, wrong } }: { of: Case }) {
  const states = [...right, ...wrong].map(({ state }) => state)
  if (states.length === 0) return null
  if (states.includes('gone')) return <Status kind="attention">Answer is gone</Status>
  if (states.includes('moved')) return <Status kind="done">Moved</Status>
  return <Status kind="done">Present</Status>
}

/** The cases of a set; each opens in the playground with its marks. */
export function Cases({ set }: { set: EvaluationSet }) {
  const pathTo = usePathTo()
  const { query, cases } = useCases(set.id)
  return (
    <DataTable
      label="Cases"
      columns={columns}
      rows={cases}
      idOf={({ id }) => id}
      linkOf={(each) => ({ to: pathTo('search'), search: searchOfCase(set.id, each) })}
      query={query}
      total={{ count: set.cases, isAbout: false }}
      selectionActions={(ids, clear) => <Remove setId={set.id} ids={ids} clear={clear} />}
      empty={
        <Empty
          calls={[
            {
              name: 'Client',
              text: `await client.createEvaluationCase({ id: '${set.id}', question: 'How does the server stop?', right: [{ fileId }] })`,
            },
          ]}
        >
          This set has no cases yet.{' '}
          <Link to={pathTo('search')} search={{ set: set.id }}>
            Ask a question
          </Link>
          , mark what is right by the thumbs, and keep it as a case; or import lines of JSON in the
          settings.
        </Empty>
      }
    />
  )
}

interface RemoveProps {
  setId: string
  ids: readonly string[]
  clear: () => void
}

function Remove({ setId, ids, clear }: RemoveProps) {
  const { removeCases } = useEvaluationActions()
  const [isAsking, setAsking] = useState(false)
  const what = ids.length === 1 ? '1 case' : `${formatNumber(ids.length)} cases`
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Dialog title={`Delete ${what}?`} onClose={() => setAsking(false)}>
          <p>Their results in earlier runs stay.</p>
          <Form
            submit={`Delete ${what}`}
            isDangerous
            onSubmit={async () => {
              await removeCases(setId, ids)
              setAsking(false)
              clear()
              note(`${what} deleted.`)
            }}
          >
            {() => null}
          </Form>
        </Dialog>
      )}
    </>
  )
}
