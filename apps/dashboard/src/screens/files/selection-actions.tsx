import { useState } from 'react'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Form } from '../../ui/form.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { useFileActions } from './queries.js'

/** The actions for several files. */
export function SelectionActions({ ids, clear }: { ids: readonly string[]; clear: () => void }) {
  const { reindex, remove } = useFileActions()
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const what = ids.length === 1 ? '1 file' : `${ids.length} files`
  return (
    <>
      <Button
        isBusy={isBusy}
        onClick={() => {
          setBusy(true)
          reindex(ids)
            .then(() => {
              note(`${what} will be indexed again.`)
              clear()
            }, noteFailure)
            .finally(() => setBusy(false))
        }}
      >
        Index again
      </Button>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Dialog title={`Delete ${what}?`} onClose={() => setAsking(false)}>
          <p>Their contents and passages are deleted with them, for ever.</p>
          <Form
            submit={`Delete ${what}`}
            isDangerous
            onSubmit={async () => {
              await remove(ids)
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
