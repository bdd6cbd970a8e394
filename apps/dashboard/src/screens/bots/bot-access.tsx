import { permissionsOf } from '@botstead/contract'
import { useState } from 'react'
import { useFurtherPages } from '../../api/queries.js'
import { CheckField, Form, SelectField } from '../../ui/form.js'
import { shownName } from '../../ui/name.js'
import { Pane, Part } from '../../ui/part.js'
import { Unread } from '../../ui/states.js'
import { note } from '../../ui/toasts.js'
import {
  type Allowlist,
  type Member,
  useAllowlist,
  useAllowlistActions,
  useMembers,
} from './queries.js'

/** The members who may see a bot. */
export function BotAccess({ botId }: { botId: string }) {
  const allowlist = useAllowlist(botId)
  const { query, members } = useMembers()
  useFurtherPages(query, true)
  return (
    <Pane>
      <Part
        title="Who may see this bot"
        hint="For all other members it does not exist. Keys of the bot work for whoever has them."
      >
        {allowlist.data === undefined ? (
          <Unread {...allowlist} lines={3} />
        ) : query.data === undefined || query.hasNextPage ? (
          <Unread {...query} lines={3} />
        ) : (
          <AccessForm key={botId} botId={botId} allowlist={allowlist.data} members={members} />
        )}
      </Part>
    </Pane>
  )
}

interface AccessFormProps {
  botId: string
  allowlist: Allowlist
  members: readonly Member[]
}

function AccessForm({ botId, allowlist, members }: AccessFormProps) {
  const update = useAllowlistActions(botId)
  const [isLimited, setLimited] = useState(allowlist.setting === 'SELECTED_USERS')
  const [chosen, setChosen] = useState(() => new Set(allowlist.users.map(({ id }) => id)))
  return (
    <Form
      submit="Save"
      onSubmit={async () => {
        const before = new Set(allowlist.users.map(({ id }) => id))
        const changed = [...before, ...chosen].filter((id) => before.has(id) !== chosen.has(id))
        await update({
          setting: isLimited ? 'SELECTED_USERS' : 'ALL_WORKSPACE_USERS',
          users: Object.fromEntries(changed.map((id) => [id, chosen.has(id)])),
        })
        note('The list is saved.')
      }}
    >
      {(faultOf) => (
        <>
          <SelectField
            label="Visible to"
            error={faultOf('users')}
            options={[
              { value: 'all', label: 'all members of the workspace' },
              { value: 'some', label: 'some members' },
            ]}
            value={isLimited ? 'some' : 'all'}
            onChange={({ target }) => setLimited(target.value === 'some')}
          />
          {isLimited &&
            members.map(({ id, userId, displayName, email, role }) => {
              if (userId === undefined) return null
              const isAlways = permissionsOf(role).includes('bots:manage')
              return (
                <CheckField
                  key={id}
                  label={shownName(displayName || email)}
                  hint={isAlways ? `${role}: sees every bot` : `${email}, ${role}`}
                  disabled={isAlways}
                  checked={isAlways || chosen.has(userId)}
                  onChange={({ target }) => {
                    const next = new Set(chosen)
                    if (target.checked) next.add(userId)
                    else next.delete(userId)
                    setChosen(next)
                  }}
                />
              )
            })}
        </>
      )}
    </Form>
  )
}
