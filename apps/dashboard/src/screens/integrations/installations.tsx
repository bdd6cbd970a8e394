import { Link } from '@tanstack/react-router'
import { usePathTo } from '../../api/address.js'
import { Id } from '../../ui/copy.js'
import { InstallationStatus } from '../../ui/installation-status.js'
import { Name } from '../../ui/name.js'
import { OutsideLink } from '../../ui/outside-link.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { ShowMore } from '../../ui/show-more.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Status } from '../../ui/status.js'
import { Time } from '../../ui/time.js'
import { type Installation, type Integration, useInstallations, useSetUpLink } from './queries.js'

/** The installations of an integration, and whether they work. */
export function Installations({ integration }: { integration: Integration }) {
  const pathTo = usePathTo()
  const { query, installations } = useInstallations(integration.id)
  return (
    <Pane>
      <Part title="Installations">
        {query.error !== null && (
          <ErrorPanel error={query.error} retry={() => void query.refetch()} />
        )}
        {query.isPending && <Skeleton />}
        {query.isSuccess && installations.length === 0 && (
          <p>It is installed in no bot. The tab “Install” does that.</p>
        )}
        <ItemList
          items={installations}
          idOf={({ botId, alias }) => `${botId} ${alias}`}
          describe={(installation) => ({
            name: (
              <>
                <Link to={pathTo('bots', installation.botId)}>
                  <Name>{installation.botName || installation.botId}</Name>
                </Link>{' '}
                as {installation.alias}
              </>
            ),
            facts: <InstallationFacts installation={installation} integration={integration} />,
          })}
          actions={({ status, enabled }) =>
            enabled ? <InstallationStatus status={status} /> : <Status kind="off">Disabled</Status>
          }
        />
        <ShowMore query={query} />
      </Part>
    </Pane>
  )
}

function InstallationFacts({
  installation,
  integration,
}: {
  installation: Installation
  integration: Integration
}) {
  const { identifier, webhookUrl, statusReason, lastError, updatedAt } = installation
  return (
    <>
      {statusReason !== undefined && <div>{statusReason}</div>}
      {identifier === undefined && <SetUp installation={installation} integration={integration} />}
      {lastError !== undefined && (
        <div>
          Last error <Time at={lastError.timestamp} />: {lastError.message}
        </div>
      )}
      <div>
        Webhook address <Id id={webhookUrl} what="webhook address" />
      </div>
      {identifier !== undefined && <div>Account {identifier}</div>}
      <div>
        Changed <Time at={updatedAt} />
      </div>
    </>
  )
}

/** The link at which a person connects an installation with its account, where the integration has one. */
function SetUp({
  installation,
  integration,
}: {
  installation: Installation
  integration: Integration
}) {
  const script = integration.configuration.identifier.linkTemplateScript ?? ''
  const link = useSetUpLink(script, installation.webhookUrl)
  if (link === undefined) return null
  return (
    <div>
      Set it up: <OutsideLink url={link} />
    </div>
  )
}
