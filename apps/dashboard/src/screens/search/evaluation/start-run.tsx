import { useState } from 'react'
import { Form, TextField } from '../../../ui/form.js'
import { Skeleton } from '../../../ui/states.js'
import { tagConditionsOf } from '../../../ui/tags.js'
import { formatTags } from './parameters.js'
import { type RunParameters, useEvaluationActions, useRuns } from './queries.js'

interface StartRunProps {
  setId: string
  onDone: (runId: string) => void
}

/** Starts a run; the parameters of the last one are filled in. */
export function StartRun({ setId, onDone }: StartRunProps) {
  const { query, runs } = useRuns(setId)
  if (query.isPending) return <Skeleton />
  return <StartForm setId={setId} usual={runs[0]?.parameters ?? {}} onDone={onDone} />
}

function StartForm({ setId, usual, onDone }: StartRunProps & { usual: RunParameters }) {
  const { startRun } = useEvaluationActions()
  const [minScore, setMinScore] = useState(String(usual.minScore ?? ''))
  const [limit, setLimit] = useState(String(usual.limit ?? ''))
  const [tags, setTags] = useState(formatTags(usual.tags))
  const [note, setNote] = useState('')
  return (
    <Form
      submit="Run the cases"
      onSubmit={async () => {
        const run = await startRun(setId, {
          note,
          parameters: {
            ...(minScore !== '' && { minScore: Number(minScore) }),
            ...(limit !== '' && { limit: Number(limit) }),
            ...(tags.trim() !== '' && { tags: tagConditionsOf(tags) }),
          },
        })
        onDone(run.id)
      }}
    >
      {(faultOf) => (
        <>
          <TextField
            label="What is tried"
            placeholder="Manuals split by chapter"
            hint="A note that tells this run from the others."
            maxLength={2000}
            error={faultOf('note')}
            value={note}
            onChange={({ target }) => setNote(target.value)}
          />
          <TextField
            label="Lowest score"
            type="number"
            min={0}
            max={1}
            step={0.01}
            placeholder="0"
            hint="Passages with a lower score are omitted, as by minScore of a search."
            error={faultOf('parameters.minScore')}
            value={minScore}
            onChange={({ target }) => setMinScore(target.value)}
          />
          <TextField
            label="Limit"
            type="number"
            min={1}
            max={50}
            placeholder="50"
            hint="Passages per question."
            error={faultOf('parameters.limit')}
            value={limit}
            onChange={({ target }) => setLimit(target.value)}
          />
          <TextField
            label="Tags of the files"
            placeholder="team=office, lang=en"
            error={faultOf('parameters.tags')}
            value={tags}
            onChange={({ target }) => setTags(target.value)}
          />
        </>
      )}
    </Form>
  )
}
