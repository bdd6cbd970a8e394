import { useNavigate } from '@tanstack/react-router'
import { usePathTo } from '../api/address.js'
import { useOwnMember } from '../api/role.js'
import { Button } from '../ui/button.js'
import { Menu } from '../ui/menu.js'
import { Person } from '../ui/person.js'
import { useRemembered } from '../ui/remembered.js'
import { noteFailure } from '../ui/toasts.js'
import styles from './frame.module.css'
import { signOut } from './sign-out.js'
import { nextTheme, setTheme, type Theme } from './theme.js'

interface AccountMenuProps {
  openPalette: () => void
  openKeys: () => void
}

/** The person who is signed in, and what concerns them on every screen. */
export function AccountMenu({ openPalette, openKeys }: AccountMenuProps) {
  const member = useOwnMember()
  const navigate = useNavigate()
  const pathTo = usePathTo()
  const [theme, rememberTheme] = useRemembered<Theme>('theme', 'system')
  const name = member?.displayName?.trim() || member?.email || 'Account'
  return (
    <Menu
      label="Account"
      trigger={
        <Button kind="quiet" className={styles.account ?? ''} title="Account">
          <Person user={{ id: member?.userId ?? '', name }} />
        </Button>
      }
      items={[
        { label: 'My account', onSelect: () => void navigate({ to: pathTo('account') }) },
        { label: 'Go to…', shortcut: 'Ctrl K', onSelect: openPalette },
        { label: 'Keyboard shortcuts', shortcut: '?', onSelect: openKeys },
        {
          label: `Colours: ${theme}`,
          hint: `Change to ${nextTheme(theme)}`,
          onSelect: () => {
            rememberTheme(nextTheme(theme))
            setTheme(nextTheme(theme))
          },
        },
        { label: 'Sign out', onSelect: () => void signOut().catch(noteFailure) },
      ]}
    />
  )
}
