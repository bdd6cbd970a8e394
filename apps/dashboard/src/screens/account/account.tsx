import { useAddressSearch } from '../../api/address.js'
import { Page, PageBody } from '../../ui/page.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { Profile } from './profile.js'
import { useAccount, useSecurity } from './queries.js'
import { Security } from './security.js'
import { Sessions } from './sessions.js'
import { Tokens } from './tokens.js'

const tabs = [
  { id: 'profile', label: 'Profile' },
  { id: 'security', label: 'Sign-in' },
  { id: 'sessions', label: 'Sessions' },
  { id: 'tokens', label: 'Tokens' },
]

/** The account that is signed in. */
export function AccountScreen() {
  const [{ tab = 'profile' }] = useAddressSearch()
  return (
    <Page title="My account">
      <Tabs tabs={tabs} current={tab} />
      <PageBody label={tabs.find(({ id }) => id === tab)?.label ?? tab}>
        <Tab id={tab} />
      </PageBody>
    </Page>
  )
}

function Tab({ id }: { id: string }) {
  switch (id) {
    case 'sessions':
      return <Sessions />
    case 'tokens':
      return <Tokens />
    default:
      return <OfAccount id={id} />
  }
}

/** The tabs that need the account itself. */
function OfAccount({ id }: { id: string }) {
  const account = useAccount()
  const security = useSecurity()
  const error = account.error ?? security.error
  if (account.data !== undefined && security.data !== undefined) {
    const props = { account: account.data.account, security: security.data }
    return id === 'security' ? <Security {...props} /> : <Profile {...props} />
  }
  if (error === null) return <Skeleton />
  const retry = () => {
    void account.refetch()
    void security.refetch()
  }
  return <ErrorPanel error={error} retry={retry} />
}
