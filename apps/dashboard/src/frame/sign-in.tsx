import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { basePath } from '../api/client.js'
import { call, watchSession } from '../api/queries.js'
import { useAddressOfPasskeys, usePasskeysHere, useSignInWays } from '../api/sign-in-ways.js'
import { provePasskey } from '../api/webauthn.js'
import { Button } from '../ui/button.js'
import { botstead } from '../ui/commands.js'
import { Dialog } from '../ui/dialog.js'
import { CodeField, Form, TextField } from '../ui/form.js'
import { ErrorPanel, Skeleton } from '../ui/states.js'
import { Toasts } from '../ui/toasts.js'
import { useCodeOfAddress } from './code-of-address.js'
import styles from './sign-in.module.css'
import { rememberSignedIn } from './signed-in.js'

async function signIn(credential: { token: string } | { code: string }): Promise<void> {
  await call({}, 'createSession', credential)
  rememberSignedIn(true)
}

interface SignInProps {
  onDone: () => void
}

interface SignInFormsProps extends SignInProps {
  /** For a sign-in with a provider, which leaves the page. */
  target: SignOnTarget
}

/** The target of a sign-in with a provider. */
export interface SignOnTarget {
  /** Path below `/dashboard` on which the person goes on. */
  returnTo: string
  /** Code of an invitation that a person without an account accepts. */
  invitation?: string
}

/** Leads to the provider of this server, if it has one. */
export function SingleSignOn({ target }: { target: SignOnTarget }) {
  const ways = useSignInWays()
  if (ways?.singleSignOn === undefined) return null
  return (
    <Form
      submit={`Sign in with ${ways.singleSignOn.name}`}
      onSubmit={async () => {
        const { url } = await call({}, 'startSingleSignOn', target)
        location.assign(url)
      }}
    >
      {() => null}
    </Form>
  )
}

/** Signs the browser in with a passkey, where the page has them; elsewhere leads to the address that has. */
function PasskeySignIn({ onDone }: SignInProps) {
  const obstacle = usePasskeysHere()
  const address = useAddressOfPasskeys()
  if (address !== undefined) {
    return (
      <p className={styles.help}>
        Passkeys work at <a href={`${address}${location.pathname}`}>{address}</a>.
      </p>
    )
  }
  if (obstacle !== undefined) return null
  return (
    <Form
      isSecondary
      submit="Sign in with a passkey"
      onSubmit={async () => {
        const { options } = await call({}, 'startPasskeySignIn', {})
        await call({}, 'signInWithPasskey', { credential: await provePasskey(options) })
        rememberSignedIn(true)
        onDone()
      }}
    >
      {() => null}
    </Form>
  )
}

/** A page without the frame: one thing in its middle, under the name of the product. */
export function Center({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Botstead`
  }, [title])
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <div className={styles.brand} aria-hidden="true">
          <span className={styles.mark}>B</span> Botstead
        </div>
        <h1>{title}</h1>
        {children}
      </div>
      <Toasts />
    </main>
  )
}

/** Signs the browser in with address and password, with a passkey, with a token, or with a provider. */
export function SignInForms({ onDone, target }: SignInFormsProps) {
  const [hasToken, setHasToken] = useState(false)
  return (
    <>
      {hasToken ? <TokenForm onDone={onDone} /> : <PasswordForm onDone={onDone} />}
      <PasskeySignIn onDone={onDone} />
      <SingleSignOn target={target} />
      <div className={styles.others}>
        <Button kind="quiet" onClick={() => setHasToken(!hasToken)}>
          {hasToken ? 'Use a password instead' : 'Use a token instead'}
        </Button>
        {!hasToken && <Forgotten />}
      </div>
    </>
  )
}

function PasswordForm({ onDone }: SignInProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [ticket, setTicket] = useState<string>()
  if (ticket !== undefined) {
    return <CodeForm ticket={ticket} onDone={onDone} onBack={() => setTicket(undefined)} />
  }
  return (
    <Form
      submit="Sign in"
      onSubmit={async () => {
        const { secondFactor } = await call({}, 'signInWithPassword', {
          email: email.trim(),
          password,
        })
        setPassword('')
        if (secondFactor !== undefined) return setTicket(secondFactor.ticket)
        rememberSignedIn(true)
        onDone()
      }}
    >
      {(faultOf) => (
        <>
          <TextField
            label="Email address"
            type="text"
            inputMode="email"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            required
            maxLength={320}
            error={faultOf('email')}
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
          <TextField
            label="Password"
            type="password"
            autoComplete="current-password"
            required
            maxLength={512}
            error={faultOf('password')}
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </>
      )}
    </Form>
  )
}

interface CodeFormProps extends SignInProps {
  ticket: string
  /** Begins again, when too much time has passed. */
  onBack: () => void
}

/** The second step: a code of the authenticator app, or a recovery code. */
export function CodeForm({ ticket, onDone, onBack }: CodeFormProps) {
  const [code, setCode] = useState('')
  return (
    <>
      <Form
        submit="Sign in"
        onSubmit={async () => {
          await call({}, 'signInWithSecondFactor', { ticket, code })
          rememberSignedIn(true)
          onDone()
        }}
      >
        {(faultOf) => (
          <CodeField
            label="Code"
            autoFocus
            hint="Of six digits, from your authenticator app; or one of your recovery codes."
            error={faultOf('code')}
            value={code}
            onChange={setCode}
          />
        )}
      </Form>
      <div>
        <Button kind="quiet" onClick={onBack}>
          Enter the password again
        </Button>
      </div>
    </>
  )
}

/** Help for those who cannot sign in. */
function Forgotten() {
  const ways = useSignInWays()
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <Button
        kind="quiet"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {ways?.mail ? 'Forgot password?' : 'No password, or forgotten?'}
      </Button>
      <div id={id} hidden={!isOpen} className={styles.help}>
        {ways?.mail ? isOpen && <RequestReset /> : <OperatorHelp />}
      </div>
    </>
  )
}

/** Asks for a mail with a link that sets the password. */
function RequestReset() {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string>()
  if (sentTo !== undefined) {
    return (
      <p role="status">
        If {sentTo} has an account here, a mail with a link is on its way. The link works for an
        hour.
      </p>
    )
  }
  return (
    <Form
      submit="Mail me a link"
      isDisabled={email.trim() === ''}
      onSubmit={async () => {
        await call({}, 'requestPasswordReset', { email: email.trim() })
        setSentTo(email.trim())
      }}
    >
      {(faultOf) => (
        <TextField
          label="Address of the account"
          type="text"
          inputMode="email"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          required
          maxLength={320}
          hint="The link that is mailed to you sets a password."
          error={faultOf('email')}
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      )}
    </Form>
  )
}

/** What to do on a server that sends no mail. */
function OperatorHelp() {
  return (
    <>
      <p>
        Whoever runs this server makes a link for you that sets a password:{' '}
        <code>{botstead(['account', 'reset', 'you@example.com'])}</code>
      </p>
      <p>
        Is it your own server, and new? <code>{botstead(['dashboard'])}</code> on its machine prints
        a link that signs you in.
      </p>
    </>
  )
}

/** Signs the browser in with a token. */
function TokenForm({ onDone }: SignInProps) {
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
          autoComplete="off"
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
    if (code === '' || started.current === code) return
    started.current = code
    setError(undefined)
    signIn({ code }).then(() => navigate({ to: '/' }), setError)
  }, [code, navigate])
  if (code !== '' && error === undefined) return <Skeleton />
  return (
    <Center title="Sign in to Botstead">
      {error !== undefined && <ErrorPanel isAct error={error} />}
      <SignInForms target={{ returnTo: '/' }} onDone={() => void navigate({ to: '/' })} />
    </Center>
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
      <SignInForms
        target={{ returnTo: `${location.pathname}${location.search}`.slice(basePath.length) }}
        onDone={() => {
          setShown(false)
          void queries.resetQueries({ predicate: ({ state }) => state.error !== null })
        }}
      />
    </Dialog>
  )
}
