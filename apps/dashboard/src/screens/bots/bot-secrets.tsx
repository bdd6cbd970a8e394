import { useState } from 'react'
import { Button } from '../../ui/button.js'
import { Form, TextField } from '../../ui/form.js'
import { ItemList, Part } from '../../ui/part.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { type Bot, useBotActions } from './queries.js'

/** The secrets that a bot is given, by name; their values are never shown again. */
export function BotSecrets({ bot }: { bot: Bot }) {
  const { update } = useBotActions()
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  return (
    <Part
      title="Secrets"
      hint="Values such as the key of another service, stored for the bot. Nobody can read them here."
    >
      <ItemList
        items={bot.secrets}
        idOf={(secret) => secret}
        describe={(secret) => ({ name: secret, facts: 'Set' })}
        actions={(secret) => (
          <Button
            kind="danger"
            onClick={() => {
              update(bot.id, { secrets: { [secret]: null } }).then(
                () => note(`The secret ${secret} is removed.`),
                noteFailure,
              )
            }}
          >
            Remove
          </Button>
        )}
      />
      <Form
        submit="Set the secret"
        onSubmit={async () => {
          await update(bot.id, { secrets: { [name]: value } })
          note(`The secret ${name} is set.`)
          setName('')
          setValue('')
        }}
      >
        {(faultOf) => (
          <>
            <TextField
              label="Name of the secret"
              required
              maxLength={200}
              autoComplete="off"
              error={faultOf('secrets')}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
            <TextField
              label="Its value"
              type="password"
              required
              autoComplete="new-password"
              error={faultOf(`secrets.${name}`)}
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          </>
        )}
      </Form>
    </Part>
  )
}
