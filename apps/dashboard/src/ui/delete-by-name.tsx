import { useState } from 'react'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Form, TextField } from './form.js'
import { shownName } from './name.js'
import { Part } from './part.js'

interface DeleteByNameProps {
  /** Kind of the deleted object, such as `bot`. */
  what: string
  name: string
  /** Text about the data that is lost with it. */
  consequence: string
  /** Deletes it and leaves its page. */
  remove: () => Promise<void>
}

/** Deletes something for ever, so it asks for the name. */
export function DeleteByName({ what, name, consequence, remove }: DeleteByNameProps) {
  const [isAsking, setAsking] = useState(false)
  const [typed, setTyped] = useState('')
  return (
    <Part title={`Delete the ${what}`} hint={consequence}>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete the {what}
      </Button>
      {isAsking && (
        <Dialog title={`Delete ${name}?`} onClose={() => setAsking(false)}>
          <Form
            submit="Delete for ever"
            isDangerous
            isDisabled={typed !== name && typed !== shownName(name)}
            onSubmit={remove}
          >
            {() => (
              <TextField
                label={`Type the name of the ${what}: ${shownName(name)}`}
                autoComplete="off"
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Form>
        </Dialog>
      )}
    </Part>
  )
}
