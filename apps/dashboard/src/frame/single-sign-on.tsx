import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { basePath } from '../api/client.js'
import { call } from '../api/queries.js'
import { Button } from '../ui/button.js'
import { ErrorPanel, Skeleton } from '../ui/states.js'
import { Center, CodeForm } from './sign-in.js'
import { rememberSignedIn } from './signed-in.js'

/** Read before the router, which may rewrite the address. */
const arrived = location.pathname === `${basePath}/sso` ? location.search : ''

/** The page to which a provider leads back. */
export function SingleSignOnScreen() {
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>()
  const [waiting, setWaiting] = useState<{ ticket: string; returnTo: string }>()
  const isStarted = useRef(false)
  useEffect(() => {
    if (isStarted.current || arrived === '') return
    isStarted.current = true
    // Out of the address, in which people share it, and out of the history.
    history.replaceState(null, '', location.pathname)
    call({}, 'finishSingleSignOn', { query: arrived }).then(({ secondFactor, returnTo }) => {
      if (secondFactor !== undefined) setWaiting({ ticket: secondFactor.ticket, returnTo })
      else enter(returnTo)
    }, setError)
  }, [])
  const back = () => void navigate({ to: '/sign-in' })
  if (waiting !== undefined) {
    return (
      <Center title="Sign in to Botstead">
        <CodeForm ticket={waiting.ticket} onDone={() => enter(waiting.returnTo)} onBack={back} />
      </Center>
    )
  }
  if (arrived !== '' && error === undefined) return <Skeleton />
  return (
    <Center title="You are not signed in">
      {error === undefined ? (
        <p>This page was loaded anew, or its address is not complete: begin again.</p>
      ) : (
        <ErrorPanel isAct error={error} />
      )}
      <Button kind="primary" autoFocus onClick={back}>
        Back to the sign-in
      </Button>
    </Center>
  )
}

/** Loads the page anew, because the browser may have been signed in to another account. */
function enter(returnTo: string): void {
  rememberSignedIn(true)
  location.replace(`${basePath}${returnTo}`)
}
