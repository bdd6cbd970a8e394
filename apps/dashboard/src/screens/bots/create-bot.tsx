import { useState } from 'react'
import { Form, TextField } from '../../ui/form.js'
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
          <TextField
            label="Name"
            required
            maxLength={200}
            error={faultOf('name')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <TextField
            label="Address"
            type="url"
            placeholder="http://localhost:8074"
            hint="Where your program listens. It can be set later; until then deliveries wait."
            error={faultOf('url')}
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </>
      )}
    </Form>
  )
}
