import type { WorkspacePermission } from '@botstead/contract'
import {
  Activity,
  Bot,
  Braces,
  Building2,
  CircleUser,
  FileText,
  FlaskConical,
  House,
  ListChecks,
  MessagesSquare,
  Plug,
  ScrollText,
  Search,
} from 'lucide-react'
import { type May, useMay } from '../api/role.js'

/** A screen of the bar. */
export interface Screen {
  /** Segment of its address. */
  path: string
  label: string
  Icon: typeof House
  /** Second key after `g`. */
  key: string
  /** Without it, the screen would show a refusal alone. */
  permission?: WorkspacePermission
}

interface Group {
  label: string
  screens: readonly Screen[]
}

/** The screens in the order of the bar on the left. */
const groups: readonly Group[] = [
  {
    label: 'Observe',
    screens: [
      { path: 'home', label: 'Home', Icon: House, key: 'h', permission: 'logs:read' },
      {
        path: 'conversations',
        label: 'Conversations',
        Icon: MessagesSquare,
        key: 'c',
        permission: 'conversations:read',
      },
      {
        path: 'deliveries',
        label: 'Deliveries',
        Icon: Activity,
        key: 'd',
        permission: 'deliveries:read',
      },
      { path: 'logs', label: 'Logs', Icon: ScrollText, key: 'l', permission: 'logs:read' },
    ],
  },
  {
    label: 'Knowledge',
    screens: [
      { path: 'files', label: 'Files', Icon: FileText, key: 'f', permission: 'files:read' },
      { path: 'search', label: 'Search', Icon: Search, key: 's', permission: 'files:read' },
    ],
  },
  {
    label: 'Build',
    screens: [
      { path: 'bots', label: 'Bots', Icon: Bot, key: 'b', permission: 'bots:read' },
      {
        path: 'try',
        label: 'Try it',
        Icon: FlaskConical,
        key: 't',
        permission: 'conversations:read',
      },
      {
        path: 'integrations',
        label: 'Integrations',
        Icon: Plug,
        key: 'i',
        permission: 'bots:read',
      },
      { path: 'data', label: 'Data', Icon: Braces, key: 'a', permission: 'conversations:read' },
    ],
  },
  {
    label: 'Operate',
    screens: [
      { path: 'jobs', label: 'Jobs', Icon: ListChecks, key: 'j' },
      { path: 'workspace', label: 'Workspace', Icon: Building2, key: 'w' },
      { path: 'account', label: 'My account', Icon: CircleUser, key: 'm' },
    ],
  },
]

const screens: readonly Screen[] = groups.flatMap((group) => group.screens)

const isOpenTo = (may: May) => (screen: Screen) =>
  screen.permission === undefined || may(screen.permission)

/** The screens that the role of the reader may open, in groups and without, and the one of a path if it may not. */
export function useScreens(path = '') {
  const isOpen = isOpenTo(useMay())
  return {
    groups: groups
      .map((group) => ({ ...group, screens: group.screens.filter(isOpen) }))
      .filter((group) => group.screens.length > 0),
    screens: screens.filter(isOpen),
    closed: screens.find((screen) => screen.path === path && !isOpen(screen)),
  }
}
