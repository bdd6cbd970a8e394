import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePathTo } from '../../api/address.js'
import { useMay } from '../../api/role.js'
import { Button } from '../../ui/button.js'
import { Id } from '../../ui/copy.js'
import { Json } from '../../ui/json.js'
import { Detail, Facts } from '../../ui/page.js'
import { Pane } from '../../ui/part.js'
import { Person } from '../../ui/person.js'
import { Unread } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { WorkflowStatus } from '../../ui/workflow-status.js'
import { useDataActions, useEvent, useUser, useWorkflow } from './queries.js'

type Fact = [name: string, value: ReactNode]

/** Links to the conversation and the user to which a thing belongs. */
function useOrigin(): (of: { conversationId?: string; userId?: string }) => Fact[] {
  const pathTo = usePathTo()
  return ({ conversationId, userId }) => [
    ...(conversationId === undefined
      ? []
      : [
          [
            'Conversation',
            <Link key="conversation" to={pathTo('conversations', conversationId)}>
              {conversationId}
            </Link>,
          ] satisfies Fact,
        ]),
    ...(userId === undefined ? [] : [['User', <UserLink key="user" id={userId} />] satisfies Fact]),
  ]
}

/** A link to a user by name; by id while the name is not known. */
function UserLink({ id }: { id: string }) {
  const pathTo = usePathTo()
  const user = useUser(id).data?.user
  return <Link to={pathTo('data', id)}>{user === undefined ? id : <Person user={user} />}</Link>
}

export function UserDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const query = useUser(id)
  const { ban, unban, revokeKeys } = useDataActions()
  const mayWrite = useMay()('conversations:write')
  const user = query.data?.user
  const act = (work: Promise<void>, done: string) => void work.then(() => note(done), noteFailure)
  return (
    <Detail
      title={user === undefined ? id : <Person user={user} />}
      back={pathTo('data')}
      actions={
        user &&
        mayWrite && (
          <>
            <Button
              onClick={() => act(revokeKeys(id), 'Keys that were issued so far are refused.')}
            >
              Revoke keys
            </Button>
            {user.banned ? (
              <Button onClick={() => act(unban(id), 'The ban is lifted.')}>Lift the ban</Button>
            ) : (
              <Button
                kind="danger"
                onClick={() => {
                  ban(id).then(
                    () => note('The user is banned.', () => act(unban(id), 'The ban is lifted.')),
                    noteFailure,
                  )
                }}
              >
                Ban
              </Button>
            )}
          </>
        )
      }
    >
      {user === undefined ? (
        <Unread {...query} />
      ) : (
        <>
          <Facts
            facts={[
              ['Id', <Id key="id" id={id} what="id of the user" />],
              [
                'Conversations',
                <Link key="link" to={pathTo('conversations')} search={{ user: id }}>
                  Show
                </Link>,
              ],
              ['First seen', <Time key="created" at={user.createdAt} />],
              ['Changed', <Time key="updated" at={user.updatedAt} />],
            ]}
          />
          <Pane>
            <Json label="Tags" value={user.tags} />
            {user.properties !== undefined && <Json label="Properties" value={user.properties} />}
          </Pane>
        </>
      )}
    </Detail>
  )
}

export function EventDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const originOf = useOrigin()
  const query = useEvent(id)
  const { cancelEvent } = useDataActions()
  const mayWrite = useMay()('conversations:write')
  const event = query.data?.event
  return (
    <Detail
      title={event?.type ?? id}
      back={pathTo('data')}
      backTab="events"
      actions={
        event?.status === 'scheduled' &&
        mayWrite && (
          <Button
            kind="danger"
            onClick={() => {
              cancelEvent(id).then(() => note('The event is canceled.'), noteFailure)
            }}
          >
            Cancel
          </Button>
        )
      }
    >
      {event === undefined ? (
        <Unread {...query} />
      ) : (
        <>
          <Facts
            facts={[
              ['Id', <Id key="id" id={id} what="id of the event" />],
              ['Status', event.status],
              ...(event.failureReason === null
                ? []
                : [['Reason', event.failureReason] satisfies Fact]),
              ...originOf(event),
              ['Time', <Time key="created" at={event.createdAt} />],
            ]}
          />
          <Pane>
            <Json label="Payload" value={event.payload} />
          </Pane>
        </>
      )}
    </Detail>
  )
}

export function WorkflowDetail({ id }: { id: string }) {
  const pathTo = usePathTo()
  const originOf = useOrigin()
  const query = useWorkflow(id)
  const workflow = query.data?.workflow
  return (
    <Detail title={workflow?.name ?? id} back={pathTo('data')} backTab="workflows">
      {workflow === undefined ? (
        <Unread {...query} />
      ) : (
        <>
          <Facts
            facts={[
              ['Id', <Id key="id" id={id} what="id of the workflow" />],
              ['Status', <WorkflowStatus key="status" status={workflow.status} />],
              ...(workflow.failureReason === undefined
                ? []
                : [['Reason', workflow.failureReason] satisfies Fact]),
              ...originOf(workflow),
              ['Started', <Time key="created" at={workflow.createdAt} />],
              ['Times out', <Time key="timeout" at={workflow.timeoutAt} />],
            ]}
          />
          <Pane>
            <Json label="Input" value={workflow.input} />
            <Json label="Output" value={workflow.output} />
            <Json label="Tags" value={workflow.tags} />
          </Pane>
        </>
      )}
    </Detail>
  )
}
