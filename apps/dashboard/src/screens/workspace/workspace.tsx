import { useAddressSearch } from '../../api/address.js'
import { Page, PageBody } from '../../ui/page.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { General } from './general.js'
import { Limits } from './limits.js'
import { Members } from './members.js'
import { useWorkspace } from './queries.js'
import { ServerTab } from './server.js'

const tabs = [
  { id: 'general', label: 'General' },
  { id: 'members', label: 'Members' },
  { id: 'limits', label: 'Limits' },
  { id: 'server', label: 'Server' },
]

/** The workspace, and for its operator the server. */
export function WorkspaceScreen() {
  const [{ tab = 'general' }] = useAddressSearch()
  return (
    <Page title="Workspace">
      <Tabs tabs={tabs} current={tab} />
      <PageBody label={tabs.find(({ id }) => id === tab)?.label ?? tab}>
        <Tab id={tab} />
      </PageBody>
    </Page>
  )
}

function Tab({ id }: { id: string }) {
  switch (id) {
    case 'members':
      return <Members />
    case 'limits':
      return <Limits />
    case 'server':
      return <ServerTab />
    default:
      return <GeneralTab />
  }
}

function GeneralTab() {
  const { data, error, refetch } = useWorkspace()
  if (data !== undefined) return <General key={data.id} workspace={data} />
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  return <Skeleton />
}
