import { type Client, roleTexts } from '@botstead/contract'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { everyBot } from '../api/address.js'
import { isFinal, isSignedOut } from '../api/client.js'
import { call, change } from '../api/queries.js'
import { Button } from '../ui/button.js'
import { Form, NameField, TextField } from '../ui/form.js'
import { shownName } from '../ui/name.js'
import { NewPasswordField } from '../ui/new-password.js'
import { Facts } from '../ui/page.js'
import { ErrorPanel, Skeleton } from '../ui/states.js'
import { Time } from '../ui/time.js'
import { noteFailure } from '../ui/toasts.js'
import { useCodeOfAddress } from './code-of-address.js'
import { Center, SignInForms, SingleSignOn } from './sign-in.js'
import { endSession, signOut } from './sign-out.js'
import { mayBeSignedIn, rememberSignedIn } from './signed-in.js'

type Invitation = Awaited<ReturnType<Client['getInvitation']>>
type Account = Awaited<ReturnType<Client['getAccount']>>['account']

/** The page of an invitation, for people with and without an account. */
export function JoinScreen() {
  const code = useCodeOfAddress()
  if (code === '') {
    return (
      <Center title="Join a workspace">
        <p>
          Open the address of the invitation again: it is not complete, or this page was loaded
          anew.
        </p>
      </Center>
    )
  }
  return <Invited key={code} code={code} />
}

function Invited({ code }: { code: string }) {
  const [invitation, setInvitation] = useState<Invitation>()
  const [error, setError] = useState<unknown>()
  const { account, readAgain } = useAccount()
  const load = useCallback(() => {
    setError(undefined)
    call({}, 'getInvitation', { code }).then(setInvitation, setError)
  }, [code])
  useEffect(load, [load])
  if (error !== undefined) {
    return (
      <Center title="Join a workspace">
        <ErrorPanel isAct error={error} {...(!isFinal(error) && { retry: load })} />
      </Center>
    )
  }
  if (invitation === undefined || account === undefined) return <Skeleton />
  const { workspaceName, email, role, expiresAt } = invitation
  return (
    <Center title={`Join ${shownName(workspaceName)}`}>
      <Facts
        facts={[
          ['Workspace', workspaceName],
          ['Invited', email],
          [
            'Role',
            <span key="role">
              {role}
              <div className="muted">{roleTexts[role]}</div>
            </span>,
          ],
          ['Valid until', <Time key="end" at={expiresAt} />],
        ]}
      />
      {account === null ? (
        <SignUp code={code} email={email} onSignedIn={readAgain} />
      ) : (
        <Accept code={code} account={account} onSignedOut={readAgain} />
      )}
    </Center>
  )
}

/** The account that this browser is signed in with: null for none, undefined while it is unknown. */
function useAccount() {
  const [account, setAccount] = useState<Account | null>()
  const readAgain = useCallback(async () => {
    if (!mayBeSignedIn()) return setAccount(null)
    await call({}, 'getAccount', {}).then(
      (found) => setAccount(found.account),
      (error) => {
        setAccount(null)
        if (!isSignedOut(error)) noteFailure(error)
      },
    )
  }, [])
  useEffect(() => void readAgain(), [readAgain])
  return { account, readAgain }
}

function useEnter(): (workspaceId: string) => void {
  const navigate = useNavigate()
  return (workspaceId) => void navigate({ to: `/${workspaceId}/${everyBot}/home`, replace: true })
}

interface SignUpProps {
  code: string
  email: string
  onSignedIn: () => Promise<void>
}

/** Makes an account for the invited address, or signs in with another one. */
function SignUp({ code, email, onSignedIn }: SignUpProps) {
  const enter = useEnter()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [hasAccount, setHasAccount] = useState(false)
  const target = { returnTo: `/join#${code}`, invitation: code }
  if (hasAccount) {
    return (
      <>
        <SignInForms target={target} onDone={() => void onSignedIn()} />
        <Button kind="quiet" onClick={() => setHasAccount(false)}>
          I have no account yet
        </Button>
      </>
    )
  }
  return (
    <>
      <Form
        submit="Join"
        onSubmit={async () => {
          const { workspaceId } = await call({}, 'signUpWithInvitation', {
            code,
            displayName: name,
            password,
          })
          rememberSignedIn(true)
          enter(workspaceId)
        }}
      >
        {(faultOf) => (
          <>
            <TextField
              label="Your name"
              required
              maxLength={200}
              autoFocus
              autoComplete="name"
              hint={`Shown to the other members, beside ${email}.`}
              error={faultOf('displayName')}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
            <NewPasswordField
              email={email}
              error={faultOf('password')}
              value={password}
              onChange={setPassword}
            />
          </>
        )}
      </Form>
      <SingleSignOn target={target} />
      <Button kind="quiet" onClick={() => setHasAccount(true)}>
        I have an account: sign in first
      </Button>
    </>
  )
}

interface AcceptProps {
  code: string
  account: Account
  onSignedOut: () => Promise<void>
}

/** Joins with the account that is signed in. */
function Accept({ code, account, onSignedOut }: AcceptProps) {
  const enter = useEnter()
  const name = account.displayName ?? account.email
  return (
    <>
      <Form
        submit={`Join as ${name}`}
        onSubmit={async () => enter((await change({}, 'acceptInvitation', { code })).workspaceId)}
      >
        {() => <p>You are signed in as {account.email}.</p>}
      </Form>
      <Button kind="quiet" onClick={() => void endSession().then(onSignedOut, noteFailure)}>
        Use another account
      </Button>
    </>
  )
}

/** The page of an account without a workspace, such as one that left its last one. */
export function NoWorkspace() {
  const enter = useEnter()
  const [name, setName] = useState('')
  return (
    <Center title="You are not a member of any workspace">
      <p>Open an invitation to one, or create your own.</p>
      <Form
        submit="Create a workspace"
        onSubmit={async () => enter((await change({}, 'createWorkspace', { name })).id)}
      >
        {(faultOf) => <NameField error={faultOf('name')} value={name} onChange={setName} />}
      </Form>
      <Button kind="quiet" onClick={() => void signOut().catch(noteFailure)}>
        Sign out
      </Button>
    </Center>
  )
}
