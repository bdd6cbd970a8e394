import { isComposing } from '@botstead/contract/composing'
import { Link, Navigate, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { PanelLeft } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { usePathTo, useScope } from '../api/address.js'
import { watchConnection } from '../api/client.js'
import { call, queryClient } from '../api/queries.js'
import { useOwnMember } from '../api/role.js'
import { Button } from '../ui/button.js'
import { Page } from '../ui/page.js'
import { remember, useRemembered } from '../ui/remembered.js'
import { type Shortcuts, useShortcuts } from '../ui/shortcuts.js'
import { Empty, ErrorPanel } from '../ui/states.js'
import { Toasts } from '../ui/toasts.js'
import { AccountMenu } from './account-menu.js'
import styles from './frame.module.css'
import { KeysDialog } from './keys-dialog.js'
import { Palette } from './palette.js'
import { type Screen, useScreens } from './screens.js'
import { SignInDialog } from './sign-in.js'
import { Switches } from './switches.js'

type Overlay = 'palette' | 'keys' | undefined

/** The frame of every screen: the bar on the left, what lies over the page, and the screen. */
export function Frame() {
  const { workspaceId } = useScope()
  const pathTo = usePathTo()
  const router = useRouter()
  const navigate = useNavigate()
  const [overlay, setOverlay] = useState<Overlay>()
  const [isFolded, setFolded] = useRemembered('bar is folded', false)
  const isConnected = useConnection()
  useEffect(() => remember('workspace', workspaceId), [workspaceId])
  useLayoutEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      if (isComposing(event)) return
      event.preventDefault()
      setOverlay('palette')
    }
    document.addEventListener('keydown', open)
    return () => document.removeEventListener('keydown', open)
  }, [])
  const { pathname } = useLocation()
  const { groups, screens, closed } = useScreens(pathname.split('/')[3])
  const shortcuts: Shortcuts = {
    '?': { label: 'Show all keys', run: () => setOverlay('keys') },
    ...Object.fromEntries(
      screens.map(({ key, path, label }) => [
        `g ${key}`,
        {
          label: `Go to ${label}`,
          // The address, not what the page shows: that may still be the bot before the one just chosen.
          run: () => {
            const [workspace, bot] = router.latestLocation.pathname.split('/').filter(Boolean)
            void navigate({ to: `/${workspace}/${bot}/${path}` })
          },
        },
      ]),
    ),
  }
  useShortcuts(shortcuts)
  const close = () => setOverlay(undefined)
  const bar = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the screen is in the path
  useEffect(() => {
    // On a phone, the screens beyond the edge of the bar would else be open and not be seen there.
    bar.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' })
  }, [pathname])

  return (
    <div className={`${styles.frame} ${isFolded ? styles.folded : ''}`}>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      {!isConnected && (
        <div role="status" className={styles.offline}>
          The server cannot be reached. Trying again.
        </div>
      )}
      <nav ref={bar} className={styles.bar} aria-label="Screens">
        <Switches />
        <div className={styles.groups}>
          {groups.map((group) => (
            <div key={group.label} className={styles.group}>
              <div className={styles.groupName}>{group.label}</div>
              {group.screens.map(({ path, label, Icon }) => (
                <Link
                  key={path}
                  to={pathTo(path)}
                  className={styles.link ?? ''}
                  activeProps={{ 'aria-current': 'page' }}
                  title={label}
                >
                  <Icon size={16} aria-hidden="true" />
                  <span className={styles.linkName}>{label}</span>
                </Link>
              ))}
            </div>
          ))}
        </div>
        <div className={styles.tools}>
          <AccountMenu
            openPalette={() => setOverlay('palette')}
            openKeys={() => setOverlay('keys')}
          />
          <Button
            kind="quiet"
            icon={<PanelLeft size={16} />}
            aria-label={isFolded ? 'Unfold the bar' : 'Fold the bar'}
            title={isFolded ? 'Unfold the bar' : 'Fold the bar'}
            aria-pressed={isFolded}
            onClick={() => setFolded(!isFolded)}
          />
        </div>
      </nav>
      <main id="main" className={styles.main} tabIndex={-1}>
        {closed === undefined ? <Outlet /> : <Closed screen={closed} open={screens} />}
      </main>
      {overlay === 'palette' && <Palette onClose={close} />}
      {overlay === 'keys' && <KeysDialog onClose={close} />}
      <SignInDialog />
      <Toasts />
    </div>
  )
}

/** The place of a screen that the role of the reader may not open. */
function Closed({ screen, open }: { screen: Screen; open: readonly Screen[] }) {
  const pathTo = usePathTo()
  const role = useOwnMember()?.role
  // Where everybody is sent first. The screens without a permission are about the server and the account.
  if (screen.path === 'home') {
    const first = open.find(({ permission }) => permission !== undefined)
    return <Navigate to={pathTo(first?.path ?? 'workspace')} replace />
  }
  return (
    <Page title={screen.label}>
      <Empty
        action={
          <Link to={pathTo('workspace')} search={{ tab: 'members' }}>
            Members and their roles
          </Link>
        }
      >
        Your role in this workspace, {role}, does not include {screen.label}. An administrator can
        change your role.
      </Empty>
    </Page>
  )
}

/** Whether the newest call reached the server; while it did not, a probe tries every two seconds. */
function useConnection(): boolean {
  const [isConnected, setConnected] = useState(true)
  useEffect(() => {
    watchConnection(setConnected)
    return () => watchConnection(() => {})
  }, [])
  useEffect(() => {
    if (isConnected) return
    const probe = () =>
      void call({}, 'getHealth', {}).then(
        () => queryClient.refetchQueries(),
        () => {},
      )
    const timer = setInterval(probe, 2000)
    return () => clearInterval(timer)
  }, [isConnected])
  return isConnected
}

/** The replacement of a part of the page that failed. */
export function Broken({ error }: { error: unknown }) {
  return <ErrorPanel error={error} retry={() => location.reload()} />
}
