import { useState } from 'react'
import { basePath } from '../../api/client.js'
import { useSignInWays } from '../../api/sign-in-ways.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Form } from '../../ui/form.js'
import { Part } from '../../ui/part.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { type AccountProps, CurrentPasswordField } from './profile.js'
import { useAccountActions } from './queries.js'

type Step = 'connect' | 'disconnect' | undefined

/** The accounts at providers with which the account signs in. */
export function IdentitiesPart({ security }: AccountProps) {
  const { singleSignOn } = useSignInWays() ?? {}
  const [step, setStep] = useState<Step>()
  const { hasPassword, identities, passkeys } = security
  const hasOther = hasPassword || passkeys > 0
  if (singleSignOn === undefined && identities.length === 0) return null
  const name = singleSignOn?.name ?? 'single sign-on'
  const isConnected = identities.length > 0
  return (
    <Part
      title={`Sign-in with ${name}`}
      hint={
        isConnected
          ? 'You sign in with this account there. Removing the connection signs all other browsers out.'
          : 'Connect an account there to sign in with it.'
      }
    >
      {identities.map(({ email, since }) => (
        <p key={since}>
          {email ?? 'An account'}, connected <Time at={since} />
        </p>
      ))}
      <div>
        {isConnected ? (
          <Button kind="danger" disabled={!hasOther} onClick={() => setStep('disconnect')}>
            Remove the connection
          </Button>
        ) : (
          <Button onClick={() => setStep('connect')}>Connect with {name}</Button>
        )}
        {isConnected && !hasOther && (
          <p className="muted">Set a password or add a passkey first, to sign in with.</p>
        )}
      </div>
      {step !== undefined && (
        <ChangeDialog
          name={name}
          step={step}
          hasPassword={hasPassword}
          onClose={() => setStep(undefined)}
        />
      )}
    </Part>
  )
}

interface ChangeProps {
  name: string
  step: 'connect' | 'disconnect'
  hasPassword: boolean
  onClose: () => void
}

/** Asks for the password, then leads to the provider or removes the connection. */
function ChangeDialog({ name, step, hasPassword, onClose }: ChangeProps) {
  const { connectSingleSignOn, disconnectSingleSignOn } = useAccountActions()
  const [password, setPassword] = useState('')
  const isNew = step === 'connect'
  return (
    <Dialog title={isNew ? `Connect with ${name}` : 'Remove the connection'} onClose={onClose}>
      <Form
        submit={isNew ? 'Go on' : 'Remove'}
        onSubmit={async () => {
          if (isNew) {
            const here = `${location.pathname}${location.search}`.slice(basePath.length)
            location.assign(await connectSingleSignOn(here, password))
            return
          }
          await disconnectSingleSignOn(password)
          onClose()
          note('The connection is removed. Other browsers are signed out.')
        }}
      >
        {(faultOf) =>
          hasPassword && (
            <CurrentPasswordField
              error={faultOf('currentPassword')}
              value={password}
              onChange={setPassword}
            />
          )
        }
      </Form>
    </Dialog>
  )
}
