import { useState } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Form, SelectField, TextField } from '../../ui/form.js'
import { Json } from '../../ui/json.js'
import { JsonField } from '../../ui/json-field.js'
import { requireObject } from '../../ui/json-text.js'
import { Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { type State, type StateKey, useBotState, useDataActions } from './queries.js'

const types: StateKey['type'][] = ['conversation', 'user', 'bot', 'integration', 'workflow']

/** Looks a state up by its owner and name, and changes it. */
export function StateEditor({ botId }: { botId: string }) {
  const [{ stateType = 'bot', stateOf, stateName }, change] = useAddressSearch()
  const type = types.find((known) => known === stateType) ?? 'bot'
  const [owner, setOwner] = useState(stateOf ?? '')
  const [name, setName] = useState(stateName ?? '')
  const id = stateOf ?? (type === 'bot' ? botId : undefined)
  const key =
    id !== undefined && stateName !== undefined ? { type, id, name: stateName } : undefined
  const { data, error, refetch } = useBotState(key)
  return (
    <Pane>
      <Part title="Look a state up" hint="A state is a value that a bot or an integration stores.">
        <Form
          submit="Look up"
          onSubmit={async () => {
            change({ stateOf: owner === '' ? undefined : owner, stateName: name })
          }}
        >
          {() => (
            <>
              <SelectField
                label="Belongs to a"
                options={types.map((value) => ({ value, label: value }))}
                value={type}
                onChange={(event) => change({ stateType: event.target.value })}
              />
              <TextField
                label="Id of its owner"
                hint={type === 'bot' ? 'Empty for this bot.' : undefined}
                required={type !== 'bot'}
                value={owner}
                onChange={(event) => setOwner(event.target.value)}
              />
              <TextField
                label="Name of the state"
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            </>
          )}
        </Form>
      </Part>
      {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
      {key !== undefined && data === undefined && error === null && <Skeleton lines={3} />}
      {key !== undefined && data !== undefined && error === null && (
        <StateForm key={data.state.id + data.state.updatedAt} of={key} state={data.state} />
      )}
    </Pane>
  )
}

/** Changes the value of a state; the server checks it against the schema that the bot declares. */
function StateForm({ of, state }: { of: StateKey; state: State }) {
  const { setState } = useDataActions()
  const mayWrite = useMay()('conversations:write')
  const [text, setText] = useState(JSON.stringify(state.payload, undefined, 2))
  return (
    <Part
      title={state.name}
      hint={
        <>
          Changed <Time at={state.updatedAt} />
          {state.expiresAt !== undefined && (
            <>
              , expires <Time at={state.expiresAt} />
            </>
          )}
        </>
      }
    >
      {!mayWrite ? (
        <Json label="Value" value={state.payload} />
      ) : (
        <Form
          submit="Save"
          onSubmit={async () => {
            await setState(of, requireObject(text, 'The value'))
            note('The state is saved.')
          }}
        >
          {(faultOf) => (
            <JsonField
              label="Value"
              hint="Checked against the schema that the bot declares for it."
              rows={12}
              error={faultOf('payload')}
              value={text}
              onChange={setText}
            />
          )}
        </Form>
      )}
    </Part>
  )
}
