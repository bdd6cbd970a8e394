import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAddressSearch, usePathTo } from '../../../api/address.js'
import { useFurtherPages } from '../../../api/queries.js'
import { Button } from '../../../ui/button.js'
import { Dialog } from '../../../ui/dialog.js'
import { CheckField, Form, SelectField, TextArea, TextField } from '../../../ui/form.js'
import { formatNumber } from '../../../ui/numbers.js'
import { useRemembered } from '../../../ui/remembered.js'
import { ErrorPanel, Skeleton } from '../../../ui/states.js'
import { note as say } from '../../../ui/toasts.js'
import styles from './evaluation.module.css'
import { asFiles, noMarks, useMarks } from './marks.js'
import { useEvaluationActions, useSets } from './queries.js'

/** Saves the question and the marked answers as a case of an evaluation set. */
export function SaveCase() {
  const [search, change] = useAddressSearch()
  const pathTo = usePathTo()
  const { right, wrong } = useMarks()
  const [isOpen, setOpen] = useState(false)
  const isOld = search.case !== undefined && search.set !== undefined
  const marked = `${formatNumber(right.length)} right, ${formatNumber(wrong.length)} wrong`
  return (
    <section className={styles.save} aria-label="Evaluation case">
      <strong>{isOld ? 'A case of an evaluation set' : 'Evaluation case'}</strong>
      <p className="muted" role="status">
        {right.length + wrong.length > 0
          ? `${marked} marked.`
          : 'Mark what is right and wrong by the thumbs, and keep the question to measure search with it.'}
      </p>
      <Button onClick={() => setOpen(true)}>{isOld ? 'Change the case' : 'Keep as a case'}</Button>
      {isOld && (
        <span className={styles.links}>
          <Link
            to={pathTo('search', search.set ?? '')}
            search={(before: object) => ({ ...before, ...noMarks, tab: 'sets', part: 'cases' })}
          >
            Back to its set
          </Link>
          <Button kind="quiet" onClick={() => change(noMarks)}>
            Leave the case
          </Button>
        </span>
      )}
      {isOpen && (
        <Dialog title={isOld ? 'Change the case' : 'Keep as a case'} onClose={() => setOpen(false)}>
          <SaveForm onDone={() => setOpen(false)} />
        </Dialog>
      )}
    </section>
  )
}

const newSet = 'new'

function SaveForm({ onDone }: { onDone: () => void }) {
  const [search, change] = useAddressSearch()
  const { q: question = '', case: caseId } = search
  const { right, wrong } = useMarks()
  const { query, sets } = useSets()
  const { createSet, createCase, updateCase } = useEvaluationActions()
  const [lastSet, setLastSet] = useRemembered('evaluation set of the last case', '')
  const [chosen, setChosen] = useState<string>()
  const [name, setName] = useState('Questions')
  const [note, setNote] = useState(search.note ?? '')
  const [isWhole, setWhole] = useRemembered('cases name whole files', false)
  // All are to choose from: a bot has at most 200.
  useFurtherPages(query, true)
  if (query.error !== null) {
    return <ErrorPanel error={query.error} retry={() => void query.refetch()} />
  }
  if (query.isPending || query.hasNextPage) return <Skeleton />
  const usual = sets.find(({ id }) => id === (search.set ?? lastSet)) ?? sets[0]
  const setId = chosen ?? usual?.id ?? newSet
  return (
    <Form
      submit="Save"
      onSubmit={async () => {
        const targets = {
          right: isWhole ? asFiles(right) : right,
          wrong: isWhole ? asFiles(wrong) : wrong,
        }
        if (caseId !== undefined && search.set !== undefined) {
          await updateCase(search.set, caseId, { question, note, ...targets })
        } else {
          const id = setId === newSet ? (await createSet(name)).id : setId
          // A set that was made now is not made again if the case is refused.
          setChosen(id)
          setLastSet(id)
          await createCase(id, { question, note, ...targets })
          change({ ...noMarks, set: id })
        }
        say('The case is saved.')
        onDone()
      }}
    >
      {(faultOf) => (
        <>
          <p className={styles.question}>“{question}”</p>
          <p>
            {right.length === 0
              ? 'Nothing is marked as right: the case expects that nothing is found.'
              : `${formatNumber(right.length)} marked as right, ${formatNumber(wrong.length)} as wrong.`}
          </p>
          {caseId === undefined && (
            <SelectField
              label="Evaluation set"
              error={faultOf('id')}
              options={[
                ...sets.map((set) => ({ value: set.id, label: set.name })),
                { value: newSet, label: 'A new set' },
              ]}
              value={setId}
              onChange={({ target }) => setChosen(target.value)}
            />
          )}
          {caseId === undefined && setId === newSet && (
            <TextField
              label="Name of the set"
              required
              maxLength={200}
              error={faultOf('name')}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
          <CheckField
            label="Whole files"
            hint="Any passage of a marked file counts, not only the marked ones."
            checked={isWhole}
            onChange={({ target }) => setWhole(target.checked)}
          />
          <TextArea
            label="Note"
            rows={2}
            maxLength={2000}
            error={faultOf('note')}
            value={note}
            onChange={({ target }) => setNote(target.value)}
          />
        </>
      )}
    </Form>
  )
}
