import { useNavigate, useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { usePathTo, useScope } from '../../../api/address.js'
import { useMay } from '../../../api/role.js'
import { Button } from '../../../ui/button.js'
import { curlOf } from '../../../ui/commands.js'
import { type Column, DataTable } from '../../../ui/data-table.js'
import { Dialog } from '../../../ui/dialog.js'
import { Form, NameField } from '../../../ui/form.js'
import { formatNumber } from '../../../ui/numbers.js'
import { Empty } from '../../../ui/states.js'
import { Time } from '../../../ui/time.js'
import styles from './evaluation.module.css'
import { type EvaluationSet, useEvaluationActions, useSets } from './queries.js'
import { SetPage } from './set-page.js'

const columns: readonly Column<EvaluationSet>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  { id: 'cases', header: 'Cases', isNumeric: true, cell: ({ cases }) => formatNumber(cases) },
  { id: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

/** The evaluation sets of a bot, or the open one of them. */
export function EvaluationSets() {
  const { item }: { item?: string } = useParams({ strict: false })
  return item?.startsWith('evalset_') === true ? <SetPage key={item} id={item} /> : <SetList />
}

function SetList() {
  const mayCreate = useMay()('files:write')
  const pathTo = usePathTo()
  const { query, sets } = useSets()
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.page}>
      <div className={styles.bar}>
        <p className="muted">
          Questions whose right answers are known; a run measures how well search answers them.
        </p>
        {mayCreate && (
          <Button kind="primary" icon={<Plus size={14} />} onClick={() => setOpen(true)}>
            Create a set
          </Button>
        )}
      </div>
      <DataTable
        label="Evaluation sets"
        columns={columns}
        rows={sets}
        idOf={({ id }) => id}
        linkOf={({ id }) => ({ to: pathTo('search', id), search: { tab: 'sets' } })}
        query={query}
        empty={<NoSets />}
      />
      {isOpen && (
        <Dialog title="Create an evaluation set" onClose={() => setOpen(false)}>
          <CreateSet />
        </Dialog>
      )}
    </div>
  )
}

function CreateSet() {
  const { createSet } = useEvaluationActions()
  const navigate = useNavigate()
  const pathTo = usePathTo()
  const [name, setName] = useState('')
  return (
    <Form
      submit="Create the set"
      onSubmit={async () => {
        const { id } = await createSet(name)
        void navigate({ to: pathTo('search', id), search: { tab: 'sets', part: 'cases' } })
      }}
    >
      {(faultOf) => <NameField error={faultOf('name')} value={name} onChange={setName} />}
    </Form>
  )
}

function NoSets() {
  const { botId = '' } = useScope()
  return (
    <Empty
      calls={[
        {
          name: 'curl',
          text: curlOf({
            method: 'POST',
            path: '/v1/evaluation-sets',
            botId,
            body: { name: 'Operators' },
          }),
        },
        { name: 'Client', text: `await client.createEvaluationSet({ name: 'Operators' })` },
      ]}
    >
      This bot has no evaluation sets yet. Ask a question, mark what is right by the thumbs, and
      keep it as a case.
    </Empty>
  )
}
