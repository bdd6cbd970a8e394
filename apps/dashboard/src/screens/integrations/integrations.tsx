import { useParams } from '@tanstack/react-router'
import { useAddressSearch, usePathTo, useScope } from '../../api/address.js'
import { curlOf } from '../../ui/commands.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { type FilterField, Filters } from '../../ui/filters.js'
import { Page, Split } from '../../ui/page.js'
import { Empty } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { IntegrationDetail } from './integration-detail.js'
import { useIntegrations } from './queries.js'

type IntegrationRow = ReturnType<typeof useIntegrations>['integrations'][number]

const columns: readonly Column<IntegrationRow>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  { id: 'version', header: 'Version', cell: ({ version }) => version },
  { id: 'title', header: 'Title', cell: ({ title }) => title },
  { id: 'visibility', header: 'Visible to', cell: ({ visibility }) => audiences[visibility] },
  { id: 'updated', header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
]

const audiences = {
  public: 'everybody here',
  private: 'this workspace',
  unlisted: 'those with its id',
} as const

const filters: readonly FilterField[] = [{ id: 'q', label: 'Name or title' }]

/** The integrations of the workspace; the open one with its definition, installations, keys and log. */
export function IntegrationsScreen() {
  const { item }: { item?: string } = useParams({ strict: false })
  const { workspaceId } = useScope()
  const [{ q }] = useAddressSearch()
  const pathTo = usePathTo()
  const { query, integrations } = useIntegrations(q === undefined ? {} : { search: q })
  return (
    <Page title="Integrations">
      <Split
        list={
          <>
            <Filters fields={filters} search="q" />
            <DataTable
              label="Integrations"
              columns={columns}
              rows={integrations}
              idOf={({ id }) => id}
              linkOf={({ id }) => ({ to: pathTo('integrations', id) })}
              currentId={item}
              query={query}
              empty={
                q === undefined ? (
                  <Empty
                    calls={[
                      {
                        name: 'curl',
                        text: curlOf({
                          method: 'POST',
                          path: '/v1/admin/integrations',
                          workspaceId,
                          body: { name: 'mail', version: '1.0.0', url: 'http://localhost:8090' },
                        }),
                      },
                    ]}
                  >
                    There is no integration yet. An integration is a program of yours that connects
                    bots with another service.
                  </Empty>
                ) : (
                  <Empty>No integration has that name or title.</Empty>
                )
              }
            />
          </>
        }
        detail={item === undefined ? undefined : <IntegrationDetail key={item} id={item} />}
      />
    </Page>
  )
}
