import { useState } from 'react'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Form, TextField } from '../../ui/form.js'
import { formatBytes } from '../../ui/numbers.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { Unread } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { type BotVersion, useBotVersions, useVersionActions } from './queries.js'

/** The versions of a bot, each of which can be deployed again. */
export function BotVersions({ botId }: { botId: string }) {
  const { data, error, refetch } = useBotVersions(botId)
  const { addressOf, remove } = useVersionActions(botId)
  const may = useMay()
  const mayWrite = may('bots:write')
  const [chosen, setChosen] = useState<BotVersion>()
  return (
    <Pane>
      <Part
        title="Versions"
        hint="The code of the bot and what it declared, kept under a name. Secrets, the configuration and integrations are not part of it."
      >
        {data === undefined ? (
          <Unread error={error} refetch={refetch} lines={2} />
        ) : (
          <ItemList
            items={data.versions}
            idOf={({ id }) => id}
            describe={(version) => ({ name: version.name, facts: <Facts version={version} /> })}
            actions={(version) => (
              <>
                {mayWrite && (
                  <Button
                    aria-label={`Deploy again: ${version.name}`}
                    onClick={() => setChosen(version)}
                  >
                    Deploy again
                  </Button>
                )}
                {may('configuration:read') && (
                  <Button
                    aria-label={`Download the code of ${version.name}`}
                    onClick={() => {
                      addressOf(version.id).then((url) => location.assign(url), noteFailure)
                    }}
                  >
                    Download
                  </Button>
                )}
                {mayWrite && (
                  <Button
                    kind="danger"
                    aria-label={`Delete ${version.name}`}
                    onClick={() => {
                      remove(version.id).then(
                        () => note(`The version ${version.name} is deleted.`),
                        noteFailure,
                      )
                    }}
                  >
                    Delete
                  </Button>
                )}
              </>
            )}
          />
        )}
        {data?.versions.length === 0 && <p className="muted">There is no version yet.</p>}
        {mayWrite && <NewVersion botId={botId} />}
      </Part>
      {chosen !== undefined && (
        <DeployAgain botId={botId} version={chosen} onClose={() => setChosen(undefined)} />
      )}
    </Pane>
  )
}

function Facts({ version }: { version: BotVersion }) {
  return (
    <>
      Created <Time at={version.createdAt} />, {formatBytes(version.codeSize)}{' '}
      {version.deployed && <Status kind="done">Its code runs</Status>}
      {version.description !== undefined && <div>{version.description}</div>}
    </>
  )
}

function NewVersion({ botId }: { botId: string }) {
  const { create } = useVersionActions(botId)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  return (
    <Form
      submit="Keep what runs now"
      onSubmit={async () => {
        await create({ name, ...(description !== '' && { description }) })
        note(`The version ${name} is kept.`)
        setName('')
        setDescription('')
      }}
    >
      {(faultOf) => (
        <>
          <TextField
            label="Name of the new version"
            required
            maxLength={200}
            error={faultOf('name')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <TextField
            label="What it is"
            maxLength={2000}
            error={faultOf('description')}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </>
      )}
    </Form>
  )
}

interface DeployAgainProps {
  botId: string
  version: BotVersion
  onClose: () => void
}

function DeployAgain({ botId, version, onClose }: DeployAgainProps) {
  const { deploy } = useVersionActions(botId)
  return (
    <Dialog title={`Deploy ${version.name} again`} onClose={onClose}>
      <p>
        Its code replaces what runs now, with what the bot declared then. If it does not start,
        nothing changes.
      </p>
      <Form
        submit="Deploy it"
        onSubmit={async () => {
          await deploy(version.id)
          note(`The version ${version.name} is deployed.`)
          onClose()
        }}
      >
        {() => null}
      </Form>
    </Dialog>
  )
}
