import type { Client } from '@botstead/contract'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { isFinal } from '../api/client.js'
import { call, queryClient } from '../api/queries.js'
import { Form } from '../ui/form.js'
import { NewPasswordField } from '../ui/new-password.js'
import { ErrorPanel, Skeleton } from '../ui/states.js'
import { useCodeOfAddress } from './code-of-address.js'
import { Center, CodeForm } from './sign-in.js'
import { rememberSignedIn } from './signed-in.js'

type Reset = Awaited<ReturnType<Client['getPasswordReset']>>

const title = 'Set your password'

/** The page of a reset link. */
export function ResetScreen() {
  const code = useCodeOfAddress()
  if (code !== '') return <Known key={code} code={code} />
  return (
    <Center title={title}>
      <p>Open the link again: its address is not complete, or this page was loaded anew.</p>
    </Center>
  )
}

function Known({ code }: { code: string }) {
  const [reset, setReset] = useState<Reset>()
  const [error, setError] = useState<unknown>()
  const load = useCallback(() => {
    setError(undefined)
    call({}, 'getPasswordReset', { code }).then(setReset, setError)
  }, [code])
  useEffect(load, [load])
  if (reset !== undefined) return <ResetForm code={code} email={reset.email} />
  if (error === undefined) return <Skeleton />
  return (
    <Center title={title}>
      <ErrorPanel isAct error={error} {...(!isFinal(error) && { retry: load })} />
    </Center>
  )
}

function ResetForm({ code, email }: { code: string; email: string }) {
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [ticket, setTicket] = useState<string>()
  const enter = () => void navigate({ to: '/' })
  if (ticket !== undefined) {
    const signIn = () => void navigate({ to: '/sign-in' })
    return (
      <Center title="Your password is set">
        <CodeForm ticket={ticket} onDone={enter} onBack={signIn} />
      </Center>
    )
  }
  return (
    <Center title={title}>
      <p>
        For the account {email}. All browsers that are signed in to it are signed out, and this one
        is signed in.
      </p>
      <Form
        submit="Set the password"
        onSubmit={async () => {
          const { secondFactor } = await call({}, 'resetPassword', { code, password })
          // The browser may have been signed in to another account.
          queryClient.clear()
          if (secondFactor !== undefined) return setTicket(secondFactor.ticket)
          rememberSignedIn(true)
          enter()
        }}
      >
        {(faultOf) => (
          <NewPasswordField
            email={email}
            error={faultOf('password')}
            value={password}
            onChange={setPassword}
          />
        )}
      </Form>
    </Center>
  )
}
