import { signOut } from '../../frame/sign-out.js'
import { Button } from '../../ui/button.js'
import { LastUse } from '../../ui/keys.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note, noteFailure } from '../../ui/toasts.js'
import { useAccountActions, useSessions } from './queries.js'

/** The browsers in which the account is signed in. */
export function Sessions() {
  const { endSession, endOtherSessions } = useAccountActions()
  const { data, error, refetch } = useSessions()
  const sessions = data?.sessions ?? []
  return (
    <Pane>
      <Part
        title="Signed-in browsers"
        hint="A session ends by itself, or when you sign out in its browser or here."
      >
        {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton lines={3} />}
        <ItemList
          items={sessions}
          idOf={({ id }) => id}
          describe={({ device, note: name, current, address, ...session }) => ({
            name: `${device || name || 'Unknown browser'}${current ? ' (this one)' : ''}`,
            facts: (
              <>
                {device !== undefined && name !== '' && `${name}. `}Signed in{' '}
                <Time at={session.createdAt} />
                {address !== undefined && ` from ${address}`}, <LastUse at={session.lastUsedAt} />,
                ends <Time at={session.expiresAt} />
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
        {sessions.some(({ current }) => !current) && (
          <div>
            <Button
              kind="danger"
              onClick={() => {
                endOtherSessions().then(
                  () => note('All other browsers are signed out.'),
                  noteFailure,
                )
              }}
            >
              Sign all others out
            </Button>
          </div>
        )}
      </Part>
    </Pane>
  )
}
