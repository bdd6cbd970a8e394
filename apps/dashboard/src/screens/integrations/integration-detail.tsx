import { useNavigate } from '@tanstack/react-router'
import { useAddressSearch, usePathTo } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Id } from '../../ui/copy.js'
import { DeleteByName } from '../../ui/delete-by-name.js'
import { Json } from '../../ui/json.js'
import { Keys } from '../../ui/keys.js'
import { Detail, Facts } from '../../ui/page.js'
import { Pane } from '../../ui/part.js'
import { Unread } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { Install } from './install.js'
import { Installations } from './installations.js'
import { IntegrationLog } from './integration-log.js'
import {
  type Integration,
  useIntegration,
  useIntegrationActions,
  useIntegrationKeys,
} from './queries.js'

const tabs = [
  { id: 'definition', label: 'Definition', permission: 'bots:read' },
  { id: 'installations', label: 'Installations', permission: 'bots:read' },
  { id: 'install', label: 'Install', permission: 'bots:write' },
  { id: 'keys', label: 'Keys and secrets', permission: 'keys:read' },
  { id: 'log', label: 'Log', permission: 'logs:read' },
] as const

/** An open integration. */
export function IntegrationDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const may = useMay()
  const open = tabs.filter(({ permission }) => may(permission))
  const [search] = useAddressSearch()
  const tab = open.find((each) => each.id === search.tab)?.id ?? 'definition'
  const { data, error, refetch } = useIntegration(id)
  const integration = data?.integration
  return (
    <Detail
      title={integration === undefined ? id : `${integration.name} ${integration.version}`}
      back={pathTo('integrations')}
    >
      <Tabs tabs={open} current={tab} />
      {integration === undefined ? (
        <Unread error={error} refetch={refetch} />
      ) : tab === 'installations' ? (
        <Installations integration={integration} />
      ) : tab === 'install' ? (
        <Install integration={integration} />
      ) : tab === 'keys' ? (
        <IntegrationKeys id={id} />
      ) : tab === 'log' ? (
        <IntegrationLog id={id} />
      ) : (
        <Definition integration={integration} />
      )}
    </Detail>
  )
}

function IntegrationKeys({ id }: { id: string }) {
  const { createKey, removeKey, rotateSecret } = useIntegrationActions()
  const { data, error, refetch } = useIntegrationKeys(id)
  return (
    <Keys
      of="integration"
      keys={data?.iaks}
      error={error}
      refetch={refetch}
      create={(text) => createKey(id, text)}
      revoke={removeKey}
      rotateSecret={() => rotateSecret(id)}
    />
  )
}

function Definition({ integration }: { integration: Integration }) {
  const { remove } = useIntegrationActions()
  const mayDelete = useMay()('bots:write')
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const namesOf = (map: object) => Object.keys(map).join(', ') || 'none'
  return (
    <>
      <Facts
        facts={[
          ['Id', <Id key="id" id={integration.id} what="id of the integration" />],
          ['Purpose', integration.description || 'not described'],
          ['Address', integration.url === '' ? 'none' : <code key="url">{integration.url}</code>],
          ['Channels', namesOf(integration.channels)],
          ['Events', namesOf(integration.events)],
          ['Actions', namesOf(integration.actions)],
          ['States', namesOf(integration.states)],
          ['Secrets', integration.secrets.join(', ') || 'none'],
          ['Created', <Time key="created" at={integration.createdAt} />],
          ['Changed', <Time key="updated" at={integration.updatedAt} />],
        ]}
      />
      <Pane>
        <Json label="Schema of the configuration" value={integration.configuration.schema} />
        <Json label="Definition" value={integration} />
        {mayDelete && (
          <DeleteByName
            what="integration"
            name={integration.name}
            consequence="Bots in which it is installed must remove it first."
            remove={async () => {
              await remove(integration.id)
              note(`${integration.name} is deleted.`)
              void navigate({ to: pathTo('integrations') })
            }}
          />
        )}
      </Pane>
    </>
  )
}
