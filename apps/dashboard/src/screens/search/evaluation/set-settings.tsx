import { useNavigate } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { usePathTo } from '../../../api/address.js'
import { Button } from '../../../ui/button.js'
import { DeleteByName } from '../../../ui/delete-by-name.js'
import { Form, NameField, TextArea, TextField } from '../../../ui/form.js'
import { formatNumber } from '../../../ui/numbers.js'
import { Pane, Part } from '../../../ui/part.js'
import { save } from '../../../ui/save.js'
import { note, noteFailure } from '../../../ui/toasts.js'
import styles from './evaluation.module.css'
import { type EvaluationSet, useEvaluationActions } from './queries.js'

/** The name of a set, its cases as lines of JSON, and its end. */
export function SetSettings({ set }: { set: EvaluationSet }) {
  const { renameSet, removeSet } = useEvaluationActions()
  const navigate = useNavigate()
  const pathTo = usePathTo()
  const [name, setName] = useState(set.name)
  return (
    <div className={styles.scroll}>
      <Pane>
        <Form
          submit="Save"
          onSubmit={async () => {
            await renameSet(set.id, name)
            note('The changes are saved.')
          }}
        >
          {(faultOf) => <NameField error={faultOf('name')} value={name} onChange={setName} />}
        </Form>
        <Export set={set} />
        <Import set={set} />
        <DeleteByName
          what="set"
          name={set.name}
          consequence="Its cases and runs are deleted with it, for ever."
          remove={async () => {
            await removeSet(set.id)
            note(`${set.name} is deleted.`)
            void navigate({ to: pathTo('search'), search: { tab: 'sets' } })
          }}
        />
      </Pane>
    </div>
  )
}

function Export({ set }: { set: EvaluationSet }) {
  const { exportCases } = useEvaluationActions()
  const [isBusy, setBusy] = useState(false)
  return (
    <Part
      title="Export"
      hint="All cases as lines of JSON, which `botstead eval` and other sets accept."
    >
      <Button
        icon={<Download size={14} />}
        isBusy={isBusy}
        disabled={set.cases === 0}
        onClick={() => {
          setBusy(true)
          exportCases(set.id)
            .then(
              (lines) =>
                save(new Blob([lines], { type: 'application/jsonl' }), `${set.name}.jsonl`),
              noteFailure,
            )
            .finally(() => setBusy(false))
        }}
      >
        Export {formatNumber(set.cases)} cases
      </Button>
    </Part>
  )
}

function Import({ set }: { set: EvaluationSet }) {
  const { importCases } = useEvaluationActions()
  const [lines, setLines] = useState('')
  return (
    <Part
      title="Import"
      hint="At most 1,000 lines at a time. A line whose _id is the key of a case changes that case."
    >
      <Form
        submit="Import"
        isDisabled={lines.trim() === ''}
        onSubmit={async () => {
          const { created, updated } = await importCases(set.id, lines)
          setLines('')
          note(`${formatNumber(created)} cases are new, ${formatNumber(updated)} changed.`)
        }}
      >
        {(faultOf) => (
          <>
            <TextArea
              label="Lines of JSON"
              className="mono"
              spellCheck={false}
              placeholder='{"_id":"q1","text":"How does the server stop?","relevant":{"guides/operation.md":1}}'
              error={faultOf('lines')}
              value={lines}
              onChange={({ target }) => setLines(target.value)}
            />
            <TextField
              label="Or a file with them"
              type="file"
              accept=".jsonl,.ndjson,.json,.txt"
              onChange={({ target }) => {
                const file = target.files?.[0]
                if (file !== undefined) file.text().then(setLines, noteFailure)
              }}
            />
          </>
        )}
      </Form>
    </Part>
  )
}
