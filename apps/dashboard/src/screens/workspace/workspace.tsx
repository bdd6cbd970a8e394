import { useAddressSearch } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Page, PageBody } from '../../ui/page.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { Audit } from './audit.js'
import { General } from './general.js'
import { Members } from './members.js'
import { useWorkspace } from './queries.js'
import { ServerTab } from './server.js'
import { UsageTab } from './usage.js'

const tabs = [
  { id: 'general', label: 'General' },
  { id: 'members', label: 'Members' },
  { id: 'usage', label: 'Usage' },
  { id: 'server', label: 'Server' },
]
/** Only for those who may read it. */
const auditTab = { id: 'audit', label: 'Audit' }

/** Tabs that earlier addresses have, with what they are called now. */
const earlier: Record<string, string> = { limits: 'usage' }

/** The workspace, and for its operator the server. */
export function WorkspaceScreen() {
  const [{ tab: asked = 'general' }] = useAddressSearch()
  const mayAudit = useMay()('audit:read')
  const shown = mayAudit ? [...tabs, auditTab] : tabs
  const tab = shown.find(({ id }) => id === (earlier[asked] ?? asked))?.id ?? 'general'
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
    case 'usage':
      return <UsageTab />
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
