import { Dialog } from '../../ui/dialog.js'
import { Form } from '../../ui/form.js'
import { note } from '../../ui/toasts.js'
import { useJobActions } from './queries.js'

interface DropDialogProps {
  ids: readonly string[]
  /** The effect of dropping the job, if its kind describes it. */
  consequence?: string | undefined
  onClose: () => void
  onDropped?: () => void
}

/** Asks before jobs are dropped, which cannot be undone. */
export function DropDialog({ ids, consequence, onClose, onDropped }: DropDialogProps) {
  const { drop } = useJobActions()
  const title = ids.length === 1 ? 'Drop the job?' : `Drop ${ids.length} jobs?`
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit="Drop"
        isDangerous
        onSubmit={async () => {
          await drop(ids)
          note(ids.length === 1 ? 'The job is dropped.' : `${ids.length} jobs are dropped.`)
          onDropped?.()
          onClose()
        }}
      >
        {() => <p>{consequence ?? 'Their work is not done. Only dead jobs can be dropped.'}</p>}
      </Form>
    </Dialog>
  )
}
