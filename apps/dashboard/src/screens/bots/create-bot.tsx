import { useState } from 'react'
import { Form, NameField, TextField } from '../../ui/form.js'
import { useBotActions } from './queries.js'

/** Creates a bot; its keys and secrets are made afterwards, where they are shown. */
export function CreateBot({ onDone }: { onDone: (id: string) => void }) {
  const { create } = useBotActions()
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  return (
    <Form
      submit="Create the bot"
      onSubmit={async () => {
        const bot = await create({ name, ...(url !== '' && { url }) })
        onDone(bot.id)
      }}
    >
      {(faultOf) => (
        <>
          <NameField error={faultOf('name')} value={name} onChange={setName} />
          <AddressField
            hint="Address at which your program listens. It can be set later; until then deliveries wait."
            error={faultOf('url')}
            value={url}
            onChange={setUrl}
          />
        </>
      )}
    </Form>
  )
}

interface AddressProps {
  hint: string
  error: string | undefined
  value: string
  onChange: (value: string) => void
}

/** Field for the address at which the program of a bot listens. */
export function AddressField({ onChange, ...props }: AddressProps) {
  return (
    <TextField
      label="Address"
      type="url"
      placeholder="http://localhost:8074"
      {...props}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}
