import {
  Activity,
  Bot,
  Braces,
  Building2,
  FileText,
  FlaskConical,
  House,
  ListChecks,
  MessagesSquare,
  Plug,
  ScrollText,
  Search,
} from 'lucide-react'

interface Screen {
  /** Segment of its address. */
  path: string
  label: string
  Icon: typeof House
  /** Second key after `g`. */
  key: string
}

interface Group {
  label: string
  screens: readonly Screen[]
}

/** The screens in the order of the bar on the left. */
export const groups: readonly Group[] = [
  {
    label: 'Observe',
    screens: [
      { path: 'home', label: 'Home', Icon: House, key: 'h' },
      { path: 'conversations', label: 'Conversations', Icon: MessagesSquare, key: 'c' },
      { path: 'deliveries', label: 'Deliveries', Icon: Activity, key: 'd' },
      { path: 'logs', label: 'Logs', Icon: ScrollText, key: 'l' },
    ],
  },
  {
    label: 'Knowledge',
    screens: [
      { path: 'files', label: 'Files', Icon: FileText, key: 'f' },
      { path: 'search', label: 'Search', Icon: Search, key: 's' },
    ],
  },
  {
    label: 'Build',
    screens: [
      { path: 'bots', label: 'Bots', Icon: Bot, key: 'b' },
      { path: 'try', label: 'Try it', Icon: FlaskConical, key: 't' },
      { path: 'integrations', label: 'Integrations', Icon: Plug, key: 'i' },
      { path: 'data', label: 'Data', Icon: Braces, key: 'a' },
    ],
  },
  {
    label: 'Operate',
    screens: [
      { path: 'jobs', label: 'Jobs', Icon: ListChecks, key: 'j' },
      { path: 'workspace', label: 'Workspace', Icon: Building2, key: 'w' },
    ],
  },
]

export const screens: readonly Screen[] = groups.flatMap((group) => group.screens)
