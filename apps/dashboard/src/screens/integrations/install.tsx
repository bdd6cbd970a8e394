import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo, useScope } from '../../api/address.js'
import { useBotNames } from '../../api/bot-names.js'
import { BotField } from '../../ui/bot-select.js'
import { ConfigurationField } from '../../ui/configuration-field.js'
import { Form, TextField } from '../../ui/form.js'
import { requireObject } from '../../ui/json-text.js'
import { Pane, Part } from '../../ui/part.js'
import { Skeleton } from '../../ui/states.js'
import { note } from '../../ui/toasts.js'
import { type Integration, useIntegrationActions } from './queries.js'

/** Installs an integration in a bot. */
export function Install({ integration }: { integration: Integration }) {
  const { install } = useIntegrationActions()
  const pathTo = usePathTo()
  const { botId: ofAddress } = useScope()
  const { bots, isPending } = useBotNames()
  const [chosen, setChosen] = useState<string>()
  const [alias, setAlias] = useState(integration.name.split('/').at(-1) ?? '')
  const [configuration, setConfiguration] = useState('{}')
  if (isPending) return <Skeleton />
  const botId = chosen ?? ofAddress ?? bots[0]?.id
  if (botId === undefined) {
    return (
      <Pane>
        <p>
          There is no bot to install it in: <Link to={pathTo('bots')}>create one</Link>.
        </p>
      </Pane>
    )
  }
  return (
    <Pane>
      <Part title="Install in a bot" hint="The server calls the integration to register it there.">
        <Form
          submit="Install"
          onSubmit={async () => {
            await install(
              botId,
              alias,
              integration.id,
              requireObject(configuration, 'The configuration'),
            )
            note('It is installed. The tab “Installations” shows when it is registered.')
          }}
        >
          {(faultOf) => (
            <>
              <BotField botId={botId} onChange={setChosen} />
              <TextField
                label="Alias"
                required
                maxLength={200}
                hint="Name of the installation in the bot."
                error={faultOf('integrations')}
                value={alias}
                onChange={(event) => setAlias(event.target.value)}
              />
              <ConfigurationField
                label="Configuration"
                schema={integration.configuration.schema}
                error={faultOf(`integrations.${alias}.configuration`)}
                value={configuration}
                onChange={setConfiguration}
              />
            </>
          )}
        </Form>
        <p>
          The tab “Installations” shows whether it is registered; the page of the bot has its
          settings there: <Link to={pathTo('bots', botId)}>open the bot</Link>.
        </p>
      </Part>
    </Pane>
  )
}
