import type { Client } from '@botstead/contract'
import { useState } from 'react'
import { useMay } from '../../api/role.js'
import { Id } from '../../ui/copy.js'
import { Form, NameField, PurposeField, TextField } from '../../ui/form.js'
import { formatNumber } from '../../ui/numbers.js'
import { Facts } from '../../ui/page.js'
import { Pane, Part } from '../../ui/part.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { useWorkspaceActions } from './queries.js'

type Workspace = Awaited<ReturnType<Client['getWorkspace']>>

/** Name and purpose of the workspace. */
export function General({ workspace }: { workspace: Workspace }) {
  const { update } = useWorkspaceActions()
  const mayWrite = useMay()('workspace:write')
  const [name, setName] = useState(workspace.name)
  const [handle, setHandle] = useState(workspace.handle ?? '')
  const [about, setAbout] = useState(workspace.about ?? '')
  return (
    <>
      <Facts
        facts={[
          ['Id', <Id key="id" id={workspace.id} what="id of the workspace" />],
          ['Name', workspace.name],
          ['Bots', formatNumber(workspace.botCount)],
          ['Created', <Time key="created" at={workspace.createdAt} />],
        ]}
      />
      {mayWrite && (
        <Pane>
          <Part title="Settings">
            <Form
              submit="Save"
              onSubmit={async () => {
                await update({ name, about, ...(handle !== '' && { handle }) })
                note('The settings are saved.')
              }}
            >
              {(faultOf) => (
                <>
                  <NameField error={faultOf('name')} value={name} onChange={setName} />
                  <TextField
                    label="Handle"
                    maxLength={100}
                    hint="Unique short name with which the names of what the workspace publishes begin: lowercase letters, digits, - and _."
                    error={faultOf('handle')}
                    value={handle}
                    onChange={(event) => setHandle(event.target.value)}
                  />
                  <PurposeField error={faultOf('about')} value={about} onChange={setAbout} />
                </>
              )}
            </Form>
          </Part>
        </Pane>
      )}
    </>
  )
}
