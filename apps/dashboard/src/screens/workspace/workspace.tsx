import { useAddressSearch } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Page, PageBody } from '../../ui/page.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { Audit } from './audit.js'
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
/** Only for those who may read it. */
const auditTab = { id: 'audit', label: 'Audit' }

/** The workspace, and for its operator the server. */
export function WorkspaceScreen() {
  const [{ tab: asked = 'general' }] = useAddressSearch()
  const mayAudit = useMay()('audit:read')
  const shown = mayAudit ? [...tabs, auditTab] : tabs
  const tab = shown.some(({ id }) => id === asked) ? asked : 'general'
  return (
    <Page title="Workspace">
      <Tabs tabs={shown} current={tab} />
      <PageBody label={shown.find(({ id }) => id === tab)?.label ?? tab}>
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
    case 'audit':
      return <Audit />
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
