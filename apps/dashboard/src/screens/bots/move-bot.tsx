import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Form, SelectField, TextField } from '../../ui/form.js'
import { Part } from '../../ui/part.js'
import { note } from '../../ui/toasts.js'
import { type Bot, useBotActions, useHasOtherWorkspaces, useTargetWorkspaces } from './queries.js'

/** Moves a bot to another workspace, for readers who have one; it asks for the name. */
export function MoveBot({ bot }: { bot: Bot }) {
  const [isAsking, setAsking] = useState(false)
  if (!useHasOtherWorkspaces()) return null
  return (
    <Part
      title="Move to another workspace"
      hint="Its conversations, files, keys and logs go with it, and its addresses stay the same. Members of this workspace lose their access."
    >
      <Button onClick={() => setAsking(true)}>Move the bot</Button>
      {isAsking && <MoveDialog bot={bot} onClose={() => setAsking(false)} />}
    </Part>
  )
}

function MoveDialog({ bot, onClose }: { bot: Bot; onClose: () => void }) {
  const { move } = useBotActions()
  const { workspaces, isComplete } = useTargetWorkspaces()
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const [chosen, setChosen] = useState('')
  const [typed, setTyped] = useState('')
  const name = bot.name || bot.id
  const target = workspaces.find(({ id }) => id === chosen)
  return (
    <Dialog title={`Move ${name}?`} onClose={onClose}>
      <Form
        submit="Move it"
        isDangerous
        isDisabled={typed !== name || target === undefined}
        onSubmit={async () => {
          await move(bot.id, chosen)
          note(`${name} is in the workspace ${target?.name ?? chosen} now.`)
          void navigate({ to: pathTo('bots') })
        }}
      >
        {(faultOf) => (
          <>
            <SelectField
              label="Workspace"
              hint={hintOf(workspaces.length, isComplete)}
              error={faultOf('targetWorkspaceId')}
              value={chosen}
              options={[
                { value: '', label: 'Choose a workspace' },
                ...workspaces.map(({ id, name: label }) => ({ value: id, label })),
              ]}
              onChange={(event) => setChosen(event.target.value)}
            />
            <TextField
              label={`Type the name of the bot: ${name}`}
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </>
        )}
      </Form>
    </Dialog>
  )
}

function hintOf(count: number, isComplete: boolean): string {
  if (!isComplete) return 'Your workspaces are being read.'
  return count === 0
    ? 'You may not create bots in any of your other workspaces.'
    : 'Workspaces in which you may create bots.'
}
