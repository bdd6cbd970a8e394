import { useParams } from '@tanstack/react-router'
import { useAddressSearch, usePathTo, useScope } from '../../api/address.js'
import { ChooseBot } from '../../ui/choose-bot.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { type FilterField, Filters } from '../../ui/filters.js'
import { Page, Split } from '../../ui/page.js'
import { Person } from '../../ui/person.js'
import { Empty } from '../../ui/states.js'
import { Status, type StatusKind } from '../../ui/status.js'
import { Tabs } from '../../ui/tabs.js'
import { describeTags, tagValuesOf } from '../../ui/tags.js'
import { Time } from '../../ui/time.js'
import { WorkflowStatus, workflowStatuses } from '../../ui/workflow-status.js'
import { EventDetail, UserDetail, WorkflowDetail } from './details.js'
import {
  type Event,
  type User,
  useEvents,
  useUsers,
  useWorkflows,
  type Workflow,
} from './queries.js'
import { StateEditor } from './state-editor.js'

const kinds = [
  { id: 'users', label: 'Users' },
  { id: 'events', label: 'Events' },
  { id: 'workflows', label: 'Workflows' },
  { id: 'states', label: 'States' },
]

/** Users, events, workflows and states of a bot. */
export function DataScreen() {
  const { botId } = useScope()
  const [{ tab = 'users' }] = useAddressSearch()
  return (
    <Page title="Data">
      <Tabs tabs={kinds} current={tab} />
      {botId === undefined ? (
        <ChooseBot screen="data" what="Users, events, workflows and states" />
      ) : tab === 'events' ? (
        <Events />
      ) : tab === 'workflows' ? (
        <Workflows />
      ) : tab === 'states' ? (
        <StateEditor botId={botId} />
      ) : (
        <Users />
      )}
    </Page>
  )
}

function useItem(): string | undefined {
  const { item }: { item?: string } = useParams({ strict: false })
  return item
}

const userColumns: readonly Column<User>[] = [
  { id: 'name', header: 'Name', cell: (user) => <Person user={user} /> },
  { id: 'tags', header: 'Tags', cell: ({ tags }) => describeTags(tags) },
  {
    id: 'banned',
    header: 'Chat',
    cell: ({ banned }) => (banned ? <Status kind="off">Banned</Status> : ''),
  },
  { id: 'created', header: 'First seen', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'updated',
    header: 'Changed',
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
    isOptional: true,
  },
]

const userFilters: readonly FilterField[] = [
  { id: 'conversation', label: 'Conversation', placeholder: 'conv_…' },
  { id: 'tag', label: 'Tag', placeholder: 'name=value' },
]

function Users() {
  const item = useItem()
  const pathTo = usePathTo()
  const [{ conversation, tag }] = useAddressSearch()
  const { query, rows } = useUsers({
    ...(conversation !== undefined && { conversationId: conversation }),
    ...(tag !== undefined && { tags: tagValuesOf(tag) }),
  })
  return (
    <Split
      list={
        <>
          <Filters fields={userFilters} />
          <DataTable
            label="Users"
            columns={userColumns}
            rows={rows}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: pathTo('data', id) })}
            currentId={item}
            query={query}
            empty={<Empty>No user matches. A user appears with the first message.</Empty>}
          />
        </>
      }
      detail={item?.startsWith('user_') === true ? <UserDetail key={item} id={item} /> : undefined}
    />
  )
}

const eventKinds: Record<Event['status'], StatusKind> = {
  pending: 'working',
  processed: 'done',
  ignored: 'off',
  failed: 'attention',
  scheduled: 'waiting',
  canceled: 'off',
}

const eventColumns: readonly Column<Event>[] = [
  { id: 'type', header: 'Type', cell: ({ type }) => type },
  {
    id: 'status',
    header: 'Status',
    cell: ({ status }) => <Status kind={eventKinds[status]}>{status}</Status>,
  },
  { id: 'reason', header: 'Reason', cell: ({ failureReason }) => failureReason, isOptional: true },
  { id: 'created', header: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

const eventStatuses = ['pending', 'ignored', 'processed', 'failed', 'scheduled'] as const
type EventStatus = (typeof eventStatuses)[number]

const eventFilters: readonly FilterField[] = [
  { id: 'type', label: 'Type' },
  {
    id: 'status',
    label: 'Status',
    options: eventStatuses.map((value) => ({ value, label: value })),
  },
  { id: 'conversation', label: 'Conversation', placeholder: 'conv_…' },
  { id: 'user', label: 'User', placeholder: 'user_…' },
]

function Events() {
  const item = useItem()
  const pathTo = usePathTo()
  const [{ type, status, conversation, user }] = useAddressSearch()
  const { query, rows } = useEvents({
    ...(type !== undefined && { type }),
    ...(status !== undefined && { status: status as EventStatus }),
    ...(conversation !== undefined && { conversationId: conversation }),
    ...(user !== undefined && { userId: user }),
  })
  return (
    <Split
      list={
        <>
          <Filters fields={eventFilters} />
          <DataTable
            label="Events"
            columns={eventColumns}
            rows={rows}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: pathTo('data', id), search: { tab: 'events' } })}
            currentId={item}
            query={query}
            empty={<Empty>No event matches. Integrations and programs create events.</Empty>}
          />
        </>
      }
      detail={item?.startsWith('evt_') === true ? <EventDetail key={item} id={item} /> : undefined}
    />
  )
}

const workflowColumns: readonly Column<Workflow>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  {
    id: 'status',
    header: 'Status',
    cell: ({ status }) => <WorkflowStatus status={status} />,
  },
  { id: 'created', header: 'Started', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'timeout',
    header: 'Times out',
    cell: ({ timeoutAt }) => <Time at={timeoutAt} />,
    isOptional: true,
  },
]

const workflowFilters: readonly FilterField[] = [
  { id: 'name', label: 'Name' },
  {
    id: 'status',
    label: 'Status',
    options: workflowStatuses,
  },
  { id: 'conversation', label: 'Conversation', placeholder: 'conv_…' },
  { id: 'user', label: 'User', placeholder: 'user_…' },
]

function Workflows() {
  const item = useItem()
  const pathTo = usePathTo()
  const [{ name, status, conversation, user }] = useAddressSearch()
  const { query, rows } = useWorkflows({
    ...(name !== undefined && { name }),
    ...(status !== undefined && { statuses: [status as Workflow['status']] }),
    ...(conversation !== undefined && { conversationId: conversation }),
    ...(user !== undefined && { userId: user }),
  })
  return (
    <Split
      list={
        <>
          <Filters fields={workflowFilters} />
          <DataTable
            label="Workflows"
            columns={workflowColumns}
            rows={rows}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: pathTo('data', id), search: { tab: 'workflows' } })}
            currentId={item}
            query={query}
            empty={<Empty>No workflow matches. Bots start workflows for longer tasks.</Empty>}
          />
        </>
      }
      detail={
        item?.startsWith('wrkflow_') === true ? <WorkflowDetail key={item} id={item} /> : undefined
      }
    />
  )
}
