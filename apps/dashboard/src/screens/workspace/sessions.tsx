import { signOut } from '../../frame/sign-out.js'
import { Button } from '../../ui/button.js'
import { LastUse } from '../../ui/keys.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { useSessions, useWorkspaceActions } from './queries.js'

/** The browsers in which the account is signed in. */
export function Sessions() {
  const { endSession } = useWorkspaceActions()
  const { data, error, refetch } = useSessions()
  return (
    <Pane>
      <Part
        title="Signed-in browsers"
        hint="A session ends by itself, or when you sign out in its browser or here."
      >
        {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton lines={3} />}
        <ItemList
          items={data?.sessions ?? []}
          idOf={({ id }) => id}
          describe={(session) => ({
            name: `${session.note || 'Unknown browser'}${session.current ? ' (this one)' : ''}`,
            facts: (
              <>
                Signed in <Time at={session.createdAt} />, <LastUse at={session.lastUsedAt} />, ends{' '}
                <Time at={session.expiresAt} />
              </>
            ),
          })}
          actions={({ id, current }) =>
            current ? (
              <Button onClick={() => void signOut().catch(noteFailure)}>Sign out here</Button>
            ) : (
              <Button
                kind="danger"
                onClick={() => {
                  endSession(id).then(() => note('The browser is signed out.'), noteFailure)
                }}
              >
                Sign out
              </Button>
            )
          }
        />
      </Part>
    </Pane>
  )
}
