import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { call, watchSession } from '../api/queries.js'
import { botstead } from '../ui/commands.js'
import { Dialog } from '../ui/dialog.js'
import { Form, TextField } from '../ui/form.js'
import { ErrorPanel, Skeleton } from '../ui/states.js'
import { useCodeOfAddress } from './code-of-address.js'
import styles from './sign-in.module.css'
import { rememberSignedIn } from './signed-in.js'

/** Names of browsers by what their user agent contains; the first that fits counts. */
const browsers: [pattern: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: [pattern: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** The name of this browser in the list of sessions. */
function browserName(agent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(agent))?.[1]
  return `${find(browsers) ?? 'Browser'} on ${find(systems) ?? 'an unknown system'}`
}

async function signIn(credential: { token: string } | { code: string }): Promise<void> {
  await call({}, 'createSession', { ...credential, note: browserName(navigator.userAgent) })
  rememberSignedIn(true)
}

/** Signs the browser in with a token. */
export function TokenForm({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState('')
  return (
    <Form
      submit="Sign in"
      isDisabled={token.trim() === ''}
      onSubmit={async () => {
        await signIn({ token: token.trim() })
        onDone()
      }}
    >
      {(faultOf) => (
        <TextField
          label="Personal access token"
          type="password"
          autoComplete="current-password"
          autoFocus
          hint={
            <>
              The first start printed one, and the file <code>admin-token</code> of the data folder
              has it. <code>{botstead(['dashboard'])}</code> on the machine of the server prints a
              link that signs in without it.
            </>
          }
          error={faultOf('token')}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      )}
    </Form>
  )
}

/** The page on which a browser signs in; a code in the address signs in at once. */
export function SignInScreen() {
  const navigate = useNavigate()
  const code = useCodeOfAddress()
  const [error, setError] = useState<unknown>()
  const started = useRef('')
  useEffect(() => {
    document.title = 'Sign in · Botstead'
    if (code === '' || started.current === code) return
    started.current = code
    setError(undefined)
    signIn({ code }).then(() => navigate({ to: '/' }), setError)
  }, [code, navigate])
  if (code !== '' && error === undefined) return <Skeleton />
  return (
    <main className={styles.page}>
      <h1>Sign in to Botstead</h1>
      {error !== undefined && <ErrorPanel error={error} />}
      <TokenForm onDone={() => void navigate({ to: '/' })} />
    </main>
  )
}

/** Asks for a sign-in over the page when a session ended, so that nothing that was typed is lost. */
export function SignInDialog() {
  const queries = useQueryClient()
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    watchSession(() => setShown(true))
    return () => watchSession(() => {})
  }, [])
  if (!isShown) return null
  return (
    <Dialog title="Your session has ended: sign in again" isRequired onClose={() => {}}>
      <TokenForm
        onDone={() => {
          setShown(false)
          void queries.resetQueries({ predicate: ({ state }) => state.error !== null })
        }}
      />
    </Dialog>
  )
}
